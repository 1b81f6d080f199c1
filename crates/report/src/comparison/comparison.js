"use strict";
// Sorts the tables: once by the largest first, then by the smallest, then as they were.
(() => {
  const ORDERS = ["descending", "ascending", "none"];

  const key = (row, column) => {
    const cell = row.cells[column];
    if (cell.dataset.v !== undefined) return cell.dataset.v === "" ? NaN : Number(cell.dataset.v);
    return cell.textContent;
  };

  const compare = (a, b) => {
    const numbers = [typeof a === "number", typeof b === "number"];
    if (numbers[0] !== numbers[1]) return numbers[0] ? -1 : 1;
    if (!numbers[0]) return a.localeCompare(b);
    if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b);
    return b - a;
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
        // What is no number stays at the end, whichever way the numbers go.
        if (next !== "none") {
          rows.sort((a, b) => {
            const [x, y] = [key(a, column), key(b, column)];
            const both = typeof x === "number" && typeof y === "number";
            return both || typeof x === typeof y ? sign * compare(x, y) : compare(x, y);
          });
        }
        body.replaceChildren(...rows);
      });
    });
  }
})();
