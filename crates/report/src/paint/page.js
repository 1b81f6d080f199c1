"use strict";
// Tooltips and arrow keys for the charts. What they say lies in data attributes and is written
// as text, never as markup.
(() => {
  const tip = document.getElementById("tip");
  const NEAR_PX = 22;
  let current = null;

  // Each treatment that a chart draws has its row in the table behind it, in the same order; a chart
  // says which row its first one has. The rows are kept as they were written, however they are sorted.
  const CELLS = ".mark, .lone";
  const behind = new Map();
  for (const figure of document.querySelectorAll("figure")) {
    behind.set(figure, Array.from(figure.querySelectorAll(".behind tbody tr")));
  }
  const rowOf = (cell) => {
    const chart = cell.closest("[data-first]");
    const place = Array.from(chart.querySelectorAll(CELLS)).indexOf(cell);
    return behind.get(chart.closest("figure"))[Number(chart.dataset.first) + place];
  };
  const cellsOf = (cell) => Array.from(rowOf(cell).cells, (one) => one.textContent);
  const dotsOf = (cell) => Array.from(cell.querySelectorAll("circle"));

  const textOf = (mark) => {
    if (mark.dataset.tip) return mark.dataset.tip;
    if (mark.localName === "circle") {
      const cell = mark.parentNode;
      const told = cell.dataset.dots.split("\n")[dotsOf(cell).indexOf(mark)];
      const [, block, value] = /^(\d+) (.*)$/.exec(told);
      return `${cellsOf(cell)[0]}\ntrial of block ${block}: ${value}`;
    }
    const cells = cellsOf(mark);
    const [estimate, interval, count] = cells.slice(-3);
    // The last column's head says what was counted: trials or blocks.
    const counted = rowOf(mark).closest("table").tHead.rows[0].lastElementChild.textContent;
    const samples = `${count} ${count === "1" ? counted.replace(/s$/, "") : counted}`;
    return `${cells[0]}\n${`${estimate} ${interval}`.trim()}\n${samples}`;
  };

  const middle = (mark) => {
    const box = (mark.querySelector(".point, use") || mark).getBoundingClientRect();
    return { x: box.left + box.width / 2, y: box.top + box.height / 2 };
  };

  const hide = () => {
    if (current) current.classList.remove("current");
    current = null;
    tip.hidden = true;
  };

  const show = (mark) => {
    if (mark === current) return;
    hide();
    current = mark;
    mark.classList.add("current");
    tip.textContent = textOf(mark);
    tip.hidden = false;
    const at = middle(mark);
    const box = tip.getBoundingClientRect();
    const room = document.documentElement.clientWidth - box.width - 8;
    const left = Math.max(8, Math.min(at.x - box.width / 2, room));
    const above = at.y - box.height - 14;
    const top = above < 8 ? at.y + 14 : above;
    tip.style.left = `${left + window.scrollX}px`;
    tip.style.top = `${top + window.scrollY}px`;
  };

  // Estimates win over the trials around them: they are what the chart is about.
  const nearest = (chart, x, y) => {
    let best = null;
    let least = NEAR_PX;
    for (const mark of chart.querySelectorAll(".mark, circle")) {
      // A stretch of time speaks wherever it is pointed at.
      if (mark.classList.contains("hit")) {
        const box = mark.getBoundingClientRect();
        if (x >= box.left && x < box.right && y >= box.top && y <= box.bottom) return mark;
        continue;
      }
      const at = middle(mark);
      const bonus = mark.localName === "circle" ? 0 : 4;
      const distance = Math.hypot(at.x - x, at.y - y) - bonus;
      if (distance < least) {
        least = distance;
        best = mark;
      }
    }
    return best;
  };

  // Where an address leads into folds, they open.
  const reveal = (hash) => {
    const place = hash.length > 1 && document.getElementById(hash.slice(1));
    if (!place || !place.closest("details:not([open])")) return;
    for (let fold = place.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    place.scrollIntoView();
  };
  addEventListener("hashchange", () => reveal(location.hash));
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (link) reveal(link.hash);
  });
  reveal(location.hash);

  for (const chart of document.querySelectorAll(".plot, .rows")) {
    const scope = (event) => event.target.closest(".row") || chart;
    let waiting = false;
    chart.addEventListener("pointermove", (event) => {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => {
        waiting = false;
        const mark = nearest(scope(event), event.clientX, event.clientY);
        if (mark) show(mark);
        else hide();
      });
    });
    chart.addEventListener("pointerleave", hide);
    chart.addEventListener("blur", hide);
    const marks = Array.from(chart.querySelectorAll(".mark"));
    const step = (by) => {
      const from = marks.indexOf(current);
      const start = from < 0 && by < 0 ? 0 : from;
      if (marks.length) show(marks[(start + by + marks.length) % marks.length]);
    };
    chart.addEventListener("focus", () => {
      if (chart.matches(":focus-visible") && !current) step(1);
    });
    chart.addEventListener("keydown", (event) => {
      if (event.key === "ArrowRight" || event.key === "ArrowDown") step(1);
      else if (event.key === "ArrowLeft" || event.key === "ArrowUp") step(-1);
      else if (event.key === "Escape") hide();
      else return;
      event.preventDefault();
    });
  }
})();
