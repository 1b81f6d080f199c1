"use strict";
// Sorts the tables: once by the largest first, then by the smallest, then as they were.
(() => {
  const ORDERS = ["descending", "ascending", "none"];

  // Numbers come first, then words, then what should be a number and is none: whichever way the
  // numbers go.
  const key = (row, column) => {
    const cell = row.cells[column];
    const given = cell.dataset.v;
    if (given === undefined) return { rank: cell.textContent === "–" ? 2 : 1, of: cell.textContent };
    return given === "" ? { rank: 2, of: 0 } : { rank: 0, of: Number(given) };
  };

  const compare = (a, b, sign) => {
    if (a.rank !== b.rank) return a.rank - b.rank;
    if (a.rank === 0) return sign * (b.of - a.of);
    return a.rank === 1 ? sign * a.of.localeCompare(b.of) : 0;
  };

  for (const table of document.querySelectorAll("table.sortable")) {
    const body = table.tBodies[0];
    const given = Array.from(body.rows);
    const heads = Array.from(table.tHead.rows[0].cells);
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const next = ORDERS[(ORDERS.indexOf(head.getAttribute("aria-sort")) + 1) % ORDERS.length];
        for (const other of heads) other.setAttribute("aria-sort", "none");
        head.setAttribute("aria-sort", next);
        const rows = given.slice();
        const sign = next === "ascending" ? -1 : 1;
        const sorting = (a, b) => compare(key(a, column), key(b, column), sign);
        if (next !== "none") rows.sort(sorting);
        body.replaceChildren(...rows);
      });
    });
  }
})();
