"use strict";
// Saving: a figure as SVG, PNG or CSV, and what else is saved from a page.

// As `scruple export` writes it (docs/exports.md): RFC 4180 with a line feed at the end of a line.
// What a spreadsheet would take for a formula gets an apostrophe; numbers stay as they are.
const csvField = (value) => {
  const guarded = (text) => {
    const dangerous = /^ *[=+\-@'\t\r\n\uff1d\uff0b\uff0d\uff20]/.test(text);
    const number = /^[\d+\-.eE]+$/.test(text) && Number.isFinite(Number(text));
    return dangerous && !number ? `'${text}` : text;
  };
  const text = typeof value === "number" ? String(value) : guarded(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

const saveFile = (blob, ...names) => {
  const safe = (text) => text.replace(/[^A-Za-z0-9._-]+/g, "-").slice(0, 80);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = names.map(safe).join("-");
  document.body.append(link);
  link.click();
  link.remove();
  // The browser reads the file after this function has returned.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
};

// A saved picture is the figure as it lies on the page, in the light colours: every line, mark and word
// at the place where the browser put it, with its look as attributes. So it needs no style sheet, and
// no drawing of its own.
(() => {
  const SVG = document.querySelector("svg").namespaceURI;
  const MARGIN = 12;
  const LEFT_OUT = ".figure-folds, .anchor, [hidden]";
  const LOOK = {
    fill: "rgb(0, 0, 0)",
    stroke: "none",
    "stroke-width": "1px",
    "stroke-dasharray": "none",
    "stroke-linecap": "butt",
    "stroke-linejoin": "miter",
    "paint-order": "normal",
    opacity: "1",
  };
  const CLEAR = "rgba(0, 0, 0, 0)";

  const round = (number) => String(Math.round(number * 100) / 100);
  const made = (name, attributes, text) => {
    const one = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) {
      one.setAttribute(key, typeof value === "number" ? round(value) : value);
    }
    if (text) one.textContent = text;
    return one;
  };
  const look = (one) => {
    const style = getComputedStyle(one);
    const own = Object.keys(LOOK).map((key) => [key, style.getPropertyValue(key)]);
    const kept = own.filter(([key, value]) => value && value !== LOOK[key]);
    return Object.fromEntries(kept.map(([key, value]) => [key, value === CLEAR ? "none" : value.replace(/px/g, "")]));
  };
  const font = (style) => {
    const kept = { fill: style.color, "font-size": style.fontSize.replace("px", "") };
    if (Number(style.fontWeight) >= 600) kept["font-weight"] = style.fontWeight;
    if (style.fontFamily !== getComputedStyle(document.body).fontFamily) kept["font-family"] = style.fontFamily;
    return kept;
  };

  // A line, mark or label of a drawing, with its place on the picture in place of shares of a width.
  const shape = (one, from) => {
    const at = one.getScreenCTM();
    const [dx, dy] = [at.e - from.left, at.f - from.top];
    const place = (x, y) => [at.a * x + dx, at.d * y + dy];
    const length = (name) => one[name].baseVal.value;
    const moved = (d, x, y) => made("path", { d, transform: `translate(${round(x)} ${round(y)})`, ...look(one) });
    switch (one.localName) {
      case "line": {
        const [[x1, y1], [x2, y2]] = [place(length("x1"), length("y1")), place(length("x2"), length("y2"))];
        return made("line", { x1, y1, x2, y2, ...look(one) });
      }
      case "rect": {
        const [x, y] = place(length("x"), length("y"));
        const [width, height] = [at.a * length("width"), at.d * length("height")];
        return made("rect", { x, y, width, height, rx: length("rx"), ...look(one) });
      }
      case "circle": {
        const [cx, cy] = place(length("cx"), length("cy"));
        return made("circle", { cx, cy, r: getComputedStyle(one).r.replace("px", ""), ...look(one) });
      }
      case "use":
        return moved(document.querySelector(one.getAttribute("href")).getAttribute("d"), ...place(length("x"), length("y")));
      case "text": {
        const first = (list) => (list.numberOfItems ? list.getItem(0).value : 0);
        const [x, y] = place(first(one.x.baseVal), first(one.y.baseVal));
        const style = getComputedStyle(one);
        const own = { x, y, "text-anchor": style.textAnchor, ...font(style), ...look(one) };
        return made("text", own, one.textContent);
      }
      default: {
        const d = one.getAttribute("d");
        if (at.a === 1 && at.d === 1) return moved(d, dx, dy);
        // Stretched to the width that there is: of points alone.
        const points = d.replace(/(-?[\d.]+) (-?[\d.]+)/g, (_, x, y) => place(Number(x), Number(y)).map(round).join(" "));
        return made("path", { d: points, ...look(one) });
      }
    }
  };

  // The lines of a text of the page, each at its place.
  const lines = (node, from) => {
    const style = getComputedStyle(node.parentElement);
    const range = document.createRange();
    const found = [];
    for (const { 0: word, index } of node.textContent.matchAll(/\S+/g)) {
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const box = range.getBoundingClientRect();
      const last = found.at(-1);
      if (!box.width) continue;
      if (last && Math.abs(last.top - box.top) < 2) {
        last.text += ` ${word}`;
        last.right = box.right;
      } else {
        found.push({ text: word, top: box.top, bottom: box.bottom, left: box.left, right: box.right });
      }
    }
    const anchor = { right: "end", end: "end", center: "middle" }[style.textAlign] ?? "start";
    return found.map(({ text, top, bottom, left, right }) => {
      const x = { start: left, middle: (left + right) / 2, end: right }[anchor] - from.left;
      const y = (top + bottom) / 2 - from.top + 0.35 * Number.parseFloat(style.fontSize);
      return [made("text", { x, y, "text-anchor": anchor, ...font(style) }, text), { right, bottom }];
    });
  };

  // The light colours, on a page that is dark.
  const lightened = (figure, draw) => {
    const rules = Array.from(document.styleSheets[0].cssRules);
    const light = rules.find((rule) => rule.selectorText === ":root").style;
    const before = figure.getAttribute("style");
    for (const name of Array.from(light).filter((name) => name.startsWith("--"))) {
      figure.style.setProperty(name, light.getPropertyValue(name));
    }
    figure.style.color = "var(--ink)";
    try {
      return draw(light.getPropertyValue("--paper"));
    } finally {
      if (before === null) figure.removeAttribute("style");
      else figure.setAttribute("style", before);
    }
  };

  // What a panel takes from the first of its figure, in its own place while it is looked at.
  const unshared = (figure, draw) => {
    const shared = Array.from(figure.querySelectorAll("use")).filter((use) => !/^#mark\d$/.test(use.getAttribute("href")));
    const copies = shared.map((use) => {
      const copy = document.querySelector(use.getAttribute("href")).cloneNode(true);
      copy.removeAttribute("id");
      use.replaceWith(copy);
      return [use, copy];
    });
    try {
      return draw();
    } finally {
      for (const [use, copy] of copies) copy.replaceWith(use);
    }
  };

  const picture = (figure) => {
    figure.classList.add("whole");
    const box = figure.getBoundingClientRect();
    const from = { left: box.left - MARGIN, top: box.top - MARGIN };
    const drawn = [];
    let [right, bottom] = [0, 0];
    const add = (one, ends) => {
      drawn.push(one);
      right = Math.max(right, ends.right - from.left);
      bottom = Math.max(bottom, ends.bottom - from.top);
    };
    const visit = (one) => {
      if (one.nodeType === Node.TEXT_NODE) {
        for (const [line, ends] of lines(one, from)) add(line, ends);
        return;
      }
      if (one.nodeType !== Node.ELEMENT_NODE || one.matches(LEFT_OUT) || one.localName === "title") return;
      const style = getComputedStyle(one);
      if (style.display === "none") return;
      const ends = one.getBoundingClientRect();
      if (one instanceof SVGGeometryElement || one.localName === "use" || one.localName === "text") {
        if (!one.matches(".hit")) add(shape(one, from), ends);
        return;
      }
      if (!one.namespaceURI.endsWith("svg") && style.backgroundColor !== CLEAR) {
        const [x, y] = [ends.left - from.left, ends.top - from.top];
        const own = { x, y, width: ends.width, height: ends.height, rx: style.borderRadius.replace("px", "") };
        add(made("rect", { ...own, fill: style.backgroundColor }), ends);
      }
      for (const child of one.childNodes) visit(child);
    };
    lightened(figure, (paper) => {
      unshared(figure, () => figure.childNodes.forEach(visit));
      const source = document.querySelector("main").dataset.source;
      if (source) {
        const y = bottom + 20;
        const own = { x: MARGIN, y, ...font(getComputedStyle(figure.querySelector(".held") || figure)) };
        drawn.push(made("text", { ...own, "font-size": 11 }, source));
        [right, bottom] = [Math.max(right, 7.2 * source.length), y + 4];
      }
      drawn.unshift(made("rect", { width: "100%", height: "100%", fill: paper }));
    });
    figure.classList.remove("whole");
    const [width, height] = [Math.ceil(right + MARGIN), Math.ceil(bottom + MARGIN)];
    drawn[0].setAttribute("width", width);
    drawn[0].setAttribute("height", height);
    const view = { viewBox: `0 0 ${width} ${height}`, width, height };
    const root = made("svg", { ...view, "font-family": getComputedStyle(document.body).fontFamily });
    root.append(made("title", {}, title(figure)), ...drawn);
    return { text: new XMLSerializer().serializeToString(root), width, height };
  };

  const title = (figure) => figure.querySelector("h3").textContent;
  const name = (figure) =>
    (figure.closest(".picture")?.id ?? title(figure).toLowerCase()).replace(/^experiment-/, "").slice(0, 60);

  const svg = (figure) => {
    const { text } = picture(figure);
    saveFile(new Blob([text], { type: "image/svg+xml" }), `${name(figure)}.svg`);
  };
  const png = async (figure) => {
    const { text, width, height } = picture(figure);
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [2 * width, 2 * height];
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => saveFile(blob, `${name(figure)}.png`), "image/png");
  };

  // A number that stands with its unit and its interval has a column for each of its parts.
  const PARTS = /^(?:(-?[\d.]+)(?: ([^\s[\]]+))?)?(?: ?\[(.+), (.+)\])?$/;
  const HEADS = ["", " unit", " low", " high"];
  const csv = (figure) => {
    const rows = Array.from(figure.querySelector("table").rows, (row) =>
      Array.from(row.cells, (cell) => cell.textContent.replace(/[\u202f]/g, "").replace(/\u00a0/g, " ").replace(/−/g, "-").replace(/^–$/, "")),
    );
    const columns = rows[0].flatMap((head, index) => {
      const cells = rows.slice(1).map((row) => row[index] ?? "");
      const parts = cells.map((cell) => PARTS.exec(cell)?.slice(1) ?? [cell]);
      const kept = HEADS.map((_, at) => at).filter((at) => parts.some((own) => own[at]));
      if (index === 0 || !kept.length) return [[head, ...cells]];
      return kept.map((at) => [head + HEADS[at], ...parts.map((own) => own[at] ?? "")]);
    });
    const text = rows.map((_, row) => `${columns.map((column) => csvField(column[row])).join(",")}\n`).join("");
    saveFile(new Blob([text], { type: "text/csv;charset=utf-8" }), `${name(figure)}.csv`);
  };

  for (const figure of document.querySelectorAll("figure.figure")) {
    const save = document.createElement("p");
    save.className = "save";
    const kinds = { SVG: svg, PNG: png, ...(figure.querySelector("table") ? { CSV: csv } : {}) };
    for (const [kind, write] of Object.entries(kinds)) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = kind;
      button.setAttribute("aria-label", `Save “${title(figure)}” as ${kind}`);
      button.addEventListener("click", () => write(figure));
      save.append(button);
    }
    figure.querySelector(".behind > summary").after(save);
  }
})();
