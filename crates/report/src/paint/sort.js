"use strict";
// Tables that are on the page already are sorted by their heads: upwards, downwards, and back to
// the order in which they were written. A cell's number is its data-v where it has one (empty: none)
// and else read from what stands in it.
(() => {
  const ROWS_MIN = 3;
  // The units of report::format, each in its smallest.
  const UNITS = {
    fs: 1e-6, ns: 1, "µs": 1e3, ms: 1e6, s: 1e9,
    B: 1, kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12,
    "/s": 1, "k/s": 1e3, "M/s": 1e6, "G/s": 1e9,
    "%": 1e-2, "per million": 1e-6,
  };

  // "at most 12.3 µs [12.1, 12.6]" is 12300; "8 of 1 200" is a share. NaN where nothing is.
  const amount = (text) => {
    const plain = text.replace(/[\u202f\u00a0]/g, "").replaceAll("−", "-").trim();
    const share = /^(none|all|\d+) of (\d+)/.exec(plain);
    if (share) return { none: 0, all: 1 }[share[1]] ?? share[1] / share[2];
    const found = /^(?:≠\s*)?(?:at (?:most|least)\s+)?(-?[\d.]+(?:e-?\d+)?)\s*(per million|[^\s\d[(]*)/.exec(plain);
    return found ? Number(found[1]) * (UNITS[found[2]] ?? 1) : NaN;
  };
  const valueOf = (cell) => {
    const given = cell?.dataset.v;
    if (given === undefined) return amount(cell?.textContent ?? "");
    return given === "" ? NaN : Number(given);
  };
  const collator = new Intl.Collator("en", { numeric: true });

  // Rows without a number stand last, whichever way the others go.
  const compare = (column, number, down) => (a, b) => {
    const sign = down ? -1 : 1;
    const cells = [a, b].map((row) => row.cells[column]);
    if (!number) {
      const [x, y] = cells.map((cell) => cell?.textContent.trim() ?? "");
      return sign * collator.compare(x, y);
    }
    const [p, q] = cells.map(valueOf);
    if (Number.isNaN(p) || Number.isNaN(q)) return Number.isNaN(p) - Number.isNaN(q);
    return sign * (p - q);
  };

  const prepare = (table) => {
    const body = table.tBodies[0];
    if (table.dataset.sorts || !table.tHead || !body || body.rows.length < ROWS_MIN) return;
    table.dataset.sorts = "yes";
    const written = Array.from(body.rows);
    const heads = Array.from(table.tHead.rows[0].cells);
    const sort = (head, column) => {
      const next = { ascending: "descending", descending: null }[head.getAttribute("aria-sort")];
      const way = next === undefined ? "ascending" : next;
      for (const other of heads) other.removeAttribute("aria-sort");
      if (way) head.setAttribute("aria-sort", way);
      const number = head.classList.contains("number");
      const rows = way ? written.slice().sort(compare(column, number, way === "descending")) : written;
      body.append(...rows);
    };
    heads.forEach((head, column) => {
      if (head.tagName !== "TH" || "unsorted" in head.dataset) return;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      button.addEventListener("click", () => sort(head, column));
      head.append(button);
    });
  };

  const TABLES = ".wide, .behind table, .fine";
  // What is folded away waits until it is opened, so that the page is there at once.
  for (const table of document.querySelectorAll(TABLES)) {
    if (!table.closest("details:not([open])")) prepare(table);
  }
  document.addEventListener(
    "toggle",
    (event) => {
      if (event.target.open) event.target.querySelectorAll(TABLES).forEach(prepare);
    },
    true,
  );
})();
