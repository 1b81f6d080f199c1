"use strict";
// A search box: finds chapters, figures, claims and answers by words that stand on the page, or by words
// that people use for them, which the page carries as data. Without this script there is no box.
(() => {
  const place = document.getElementById("find");
  if (!place) return;
  const MOST = 8;
  const words = (text) => text.toLowerCase().normalize("NFKD").match(/[\p{L}\p{N}]+/gu) || [];
  const entries = [];
  const add = (node, kind, text, more, weight) => {
    const title = text.replace(/\s+/g, " ").trim();
    if (title) entries.push({ node, kind, title, own: words(title), more: words(more || ""), weight });
  };
  const text = (node) => (node ? node.textContent : "");
  const known = JSON.parse(place.dataset.words);
  const synonyms = (node) => (node && known[node.id]) || "";
  for (const row of document.querySelectorAll(".front-strips a, .front-questions a")) {
    const group = text(row.closest("section").querySelector("h2"));
    add(row, "answer", text(row.querySelector(".front-label")), `${group} ${text(row)}`, 4);
  }
  for (const chapter of document.querySelectorAll("section.experiment")) {
    add(chapter, "chapter", text(chapter.querySelector("h2")), `${chapter.id} ${synonyms(chapter)}`, 3);
  }
  for (const figure of document.querySelectorAll(".picture[id] .figure")) {
    const chapter = figure.closest("section.experiment");
    const title = text(figure.querySelector("h4"));
    add(figure.closest("[id]"), "figure", title, chapter ? `${chapter.id} ${synonyms(chapter)}` : "", 4);
  }
  for (const claim of document.querySelectorAll(".claim-text")) add(claim, "claim", text(claim), "", 1);
  for (const part of document.querySelectorAll("main > section[id]:not(.experiment)")) {
    add(part, "part", text(part.querySelector("h2")), part.id, 1);
  }

  // Each word that was typed must begin a word of the entry; whole words and words of the title count more.
  const score = (entry, typed) => {
    let sum = entry.weight;
    for (const word of typed) {
      const best = (list, whole) => list.reduce((most, known) => {
        if (known === word) return Math.max(most, whole);
        return known.startsWith(word) ? Math.max(most, whole / 2) : most;
      }, 0);
      const points = Math.max(best(entry.own, 8), best(entry.more, 6));
      if (points === 0) return 0;
      sum += points;
    }
    return sum;
  };
  const found = (query) => {
    const typed = words(query);
    if (!typed.length) return [];
    const all = entries.map((entry) => [score(entry, typed), entry]).filter(([points]) => points > 0);
    return all.sort((a, b) => b[0] - a[0]).slice(0, MOST).map(([, entry]) => entry);
  };

  const box = document.createElement("input");
  box.type = "search";
  box.placeholder = "Find: execution time, fork …  ( / )";
  const list = document.createElement("ul");
  list.id = "found";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Found");
  const settings = { role: "combobox", "aria-label": "Find in this report", "aria-controls": "found",
    "aria-expanded": "false", "aria-autocomplete": "list", autocomplete: "off", spellcheck: "false" };
  for (const [name, value] of Object.entries(settings)) box.setAttribute(name, value);
  list.hidden = true;
  place.append(box, list);
  place.hidden = false;

  let shown = [];
  let at = 0;
  const mark = () => {
    Array.from(list.children).forEach((item, index) => item.setAttribute("aria-selected", String(index === at)));
    const active = list.children[at];
    if (active && !list.hidden && shown.length) {
      box.setAttribute("aria-activedescendant", active.id);
      active.scrollIntoView({ block: "nearest" });
    } else box.removeAttribute("aria-activedescendant");
  };
  const show = (open) => {
    list.hidden = !open;
    box.setAttribute("aria-expanded", String(open));
    mark();
  };
  const go = (entry) => {
    show(false);
    // A link or an answer of the first screen leads on.
    const hash = entry.node.localName === "a" ? entry.node.hash : "";
    const target = hash ? document.getElementById(hash.slice(1)) : entry.node;
    if (!target) return;
    for (let node = target; node; node = node.parentElement) if (node.localName === "details") node.open = true;
    if (target.id) history.replaceState(null, "", `#${target.id}`);
    target.tabIndex = -1;
    target.focus({ preventScroll: true });
    target.scrollIntoView({ block: "start" });
    target.classList.add("found-here");
    setTimeout(() => target.classList.remove("found-here"), 2500);
  };
  const refresh = () => {
    shown = found(box.value);
    at = 0;
    list.replaceChildren(...shown.map((entry, index) => {
      const item = document.createElement("li");
      const kind = document.createElement("span");
      kind.textContent = entry.kind;
      item.setAttribute("role", "option");
      item.id = `found-${index}`;
      item.append(kind, ` ${entry.title}`);
      item.addEventListener("pointerdown", (event) => event.preventDefault());
      item.addEventListener("click", () => go(entry));
      return item;
    }));
    if (!shown.length && box.value.trim()) {
      const item = document.createElement("li");
      item.setAttribute("role", "option");
      item.setAttribute("aria-disabled", "true");
      item.textContent = "Nothing found";
      list.append(item);
    }
    show(box.value.trim() !== "");
  };
  box.addEventListener("input", refresh);
  box.addEventListener("blur", () => show(false));
  box.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && shown.length) {
      at = (at + step + shown.length) % shown.length;
      if (list.hidden) show(true);
      mark();
    } else if (event.key === "Enter" && shown.length) go(shown[at]);
    else if (event.key === "Escape" && !list.hidden) show(false);
    else return;
    event.preventDefault();
  });
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (/^(input|textarea|select)$/.test(document.activeElement.localName)) return;
    event.preventDefault();
    box.focus();
    box.select();
  });
})();
