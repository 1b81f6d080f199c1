"use strict";
// The table of every trial. It is built when its fold is opened, a page of rows at a time, from
// the data that lie in the page once: sorting orders indices, never rows, so that ten thousand
// trials sort at once. Every text is written as text, never as markup.
(() => {
  const ROWS = 100;
  const GROUP = "\u202f";

  const element = (name, attributes, ...content) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (value !== null) made.setAttribute(key, value);
    }
    made.append(...content);
    return made;
  };

  const bytes = (id) => Uint8Array.from(atob(document.getElementById(id).textContent), (one) => one.charCodeAt(0));

  // See report::say::trials.
  const read = async (id) => {
    const packed = new Blob([bytes(id)]).stream();
    const data = await new Response(packed.pipeThrough(new DecompressionStream("gzip"))).json();
    data.count = data.trial.length;
    // Factors and levels in the order of the design, as far as they were measured; others stand last.
    const names = new Set(data.treatments.flatMap(Object.keys));
    const declared = new Map(data.factors);
    data.factors = [...declared.keys(), ...[...names].filter((name) => !declared.has(name)).sort()];
    data.levels = data.factors.map((factor) => {
      const seen = new Set(data.treatments.filter((own) => factor in own).map((own) => own[factor]));
      const known = declared.get(factor) || [];
      return [...known.filter((level) => seen.delete(level)), ...[...seen].sort()];
    });
    data.varying = data.varying.map((factor) => data.factors.indexOf(factor));
    // The index of a trial's level; a treatment that lacks a factor has none.
    data.indexOf = (factor, trial) =>
      data.levels[factor].indexOf(data.treatments[data.place[trial]][data.factors[factor]]);
    data.level = (factor, trial) => data.levels[factor][data.indexOf(factor, trial)] ?? "";
    const numbers = (values) => Float64Array.from(values, (value) => value ?? NaN);
    for (const response of data.responses) {
      response.label ??= "";
      response.unit = response.unit?.other ?? response.unit ?? "";
      response.values = numbers(response.values);
      response.net = response.net ? numbers(response.net) : response.values;
    }
    return data;
  };

  const grouped = (value) => {
    if (Number.isNaN(value)) return "–";
    const text = String(value);
    if (!/^-?\d{5,}(\.\d+)?$/.test(text)) return text.replace("-", "−");
    const [whole, fraction] = text.replace("-", "−").split(".");
    return whole.replace(/\B(?=(\d{3})+$)/g, GROUP) + (fraction ? `.${fraction}` : "");
  };

  // What a column is called, shows, and is ordered by.
  const columnsOf = (data) => {
    const plain = (head, values) => ({ head, number: true, text: (i) => String(values[i]), key: (i) => values[i] });
    const factor = (index) => ({
      head: data.factors[index].replaceAll("_", " "),
      text: (i) => data.level(index, i),
      key: (i) => data.indexOf(index, i),
    });
    const response = (one) => ({
      head: one.name,
      label: one.label,
      code: true,
      number: true,
      text: (i) => grouped(one.values[i]),
      key: (i) => one.values[i],
    });
    // Sorted by their place among all that there are.
    const words = (head, text) => {
      const all = [...new Set(data.trial.map((_, i) => text(i)))].sort();
      return { head, text, key: (i) => all.indexOf(text(i)) };
    };
    return [
      plain("trial", data.trial),
      plain("block", data.block),
      plain("position", data.position),
      ...data.varying.map(factor),
      // A response that no trial has a number for would be an empty column.
      ...data.responses.filter((one) => one.values.some((value) => !Number.isNaN(value))).map(response),
      words("outcome", (i) => data.outcome[i][0].replaceAll("_", " ")),
      words("tags", (i) => data.tags[i].join(", ")),
    ];
  };

  // Trials without a number stand last in either order; equals stay in the order of measuring.
  const ordered = (trials, column, down) => {
    const sign = down ? -1 : 1;
    return trials.sort((a, b) => {
      const [x, y] = [column.key(a), column.key(b)];
      if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y) || a - b;
      return sign * (x - y) || a - b;
    });
  };

  const csv = (data) => {
    const head = ["session", "host", "experiment", "version", "trial", "block", "position", "treatment"];
    const tail = ["response", "unit", "value", "measured_value", "observations", "outcome", "reason", "tags", "started_unix_ms"];
    const factors = data.factors.map((name) => `factor_${name}`);
    const lines = [[...head, ...factors, ...tail].map(csvField).join(",")];
    const of = [data.session, data.host, data.experiment, data.version === null ? "" : data.version];
    const shown = (value) => (Number.isNaN(value) ? "" : value);
    for (let i = 0; i < data.count; i++) {
      const levels = data.factors.map((_, factor) => data.level(factor, i));
      const treatment = data.factors
        .map((name, factor) => [name, levels[factor]])
        .filter(([, level]) => level !== "")
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, level]) => `${name}=${level}`)
        .join(" ");
      const before = [...of, data.trial[i], data.block[i], data.position[i], treatment, ...levels];
      const after = [...data.outcome[i], data.tags[i].join(";"), data.started[i]];
      for (const { name, unit, values, net, observations } of data.responses) {
        const own = [name, unit, shown(net[i]), shown(values[i]), observations[i]];
        lines.push([...before, ...own, ...after].map(csvField).join(","));
      }
    }
    return `${lines.join("\n")}\n`;
  };

  const download = (data) => {
    const blob = new Blob([csv(data)], { type: "text/csv;charset=utf-8" });
    saveFile(blob, data.session, `${data.experiment}.csv`);
  };

  const choice = (label, options, changed) => {
    const select = element("select", {});
    options.forEach((option, index) => select.append(element("option", { value: index }, option)));
    select.addEventListener("change", () => changed(Number(select.value)));
    return element("label", {}, `${label} `, select);
  };

  // A choice for each factor that varies, and one for what became of the trials.
  const filtersOf = (data, changed) => {
    const wanted = data.factors.map(() => -1);
    let kind = 0;
    const kinds = [
      ["all trials", () => true],
      ["without a tag", (i) => !data.tags[i].length],
      ["with a tag", (i) => data.tags[i].length > 0],
      ["that gave no number", (i) => data.outcome[i][0] !== "completed"],
    ];
    const passes = (i) =>
      kinds[kind][1](i) &&
      data.varying.every((factor) => wanted[factor] < 0 || wanted[factor] === data.indexOf(factor, i));
    const factors = data.varying.map((factor) =>
      choice(data.factors[factor].replaceAll("_", " "), ["all", ...data.levels[factor]], (index) => {
        wanted[factor] = index - 1;
        changed();
      }),
    );
    const trials = choice("trials", kinds.map(([name]) => name), (index) => {
      kind = index;
      changed();
    });
    return [passes, [...factors, trials]];
  };

  const heads = (columns, sort) => {
    const row = element("tr");
    for (const column of columns) {
      const name = column.code ? element("code", {}, column.head) : column.head;
      const button = element("button", { type: "button" }, name);
      if (column.label) button.title = column.label;
      button.addEventListener("click", () => sort(column));
      column.cell = element("th", { scope: "col", class: column.number ? "number" : null }, button);
      row.append(column.cell);
    }
    return element("thead", {}, row);
  };

  // What the table holds, in a sentence.
  const about = (data) => {
    const [kept, all] = data.blocks;
    const parts = [];
    if (kept < all) {
      const command = element("code", {}, data.command);
      parts.push(
        element("b", {}, `Not all of them: ${data.count} of ${data.stored} trials, ${kept} of ${all} blocks, evenly spaced. `),
        "All of them come from ",
        command,
        ". ",
      );
    }
    const subtracts = data.responses.some((response) => response.net !== response.values);
    parts.push(
      "A row is a trial; a column its one number for that response, in the unit that ends its name" +
        (subtracts ? ", before a control is subtracted" : "") +
        ". The heads sort.",
    );
    return element("p", { class: "small" }, ...parts);
  };

  const build = async (place) => {
    const data = await read(`${place.closest("section").id}-data`);
    const columns = columnsOf(data);
    const everything = Array.from({ length: data.count }, (_, i) => i);
    let state = { column: columns[0], down: false, first: 0, trials: everything.slice() };
    const body = element("tbody");
    const said = element("p", { class: "raw-said", role: "status" });
    const steps = ["First", "Previous", "Next", "Last"].map((word) => element("button", { type: "button" }, word));

    const draw = () => {
      const { column, down, first, trials } = state;
      const last = Math.min(first + ROWS, trials.length);
      body.replaceChildren(
        ...trials.slice(first, last).map((i) =>
          element("tr", {}, ...columns.map((one) => element("td", { class: one.number ? "number" : null }, one.text(i)))),
        ),
      );
      for (const one of columns) {
        if (one === column) one.cell.setAttribute("aria-sort", down ? "descending" : "ascending");
        else one.cell.removeAttribute("aria-sort");
      }
      const rows = trials.length ? `Rows ${first + 1} to ${last} of ${trials.length}` : "No trial is like that";
      said.textContent = `${rows}, by ${column.head}${down ? ", the largest first" : ""}`;
      steps.forEach((button, index) => {
        button.disabled = index < 2 ? first === 0 : last >= trials.length;
      });
    };
    const turn = (to) => {
      const end = Math.max(0, Math.ceil(state.trials.length / ROWS) - 1) * ROWS;
      state.first = Math.max(0, Math.min(to, end));
      draw();
    };
    [() => 0, () => state.first - ROWS, () => state.first + ROWS, () => Infinity].forEach((to, index) => {
      steps[index].addEventListener("click", () => turn(to()));
    });
    const sort = (column) => {
      const down = state.column === column && !state.down;
      state = { ...state, column, down, first: 0, trials: ordered(state.trials, column, down) };
      draw();
    };
    const [passes, filters] = filtersOf(data, () => {
      state.trials = ordered(everything.filter(passes), state.column, state.down);
      turn(0);
    });

    const save = element("button", { type: "button", class: "raw-save" }, `Download CSV (${data.count} trials)`);
    save.addEventListener("click", () => download(data));
    const table = element(
      "table",
      { class: "raw-table" },
      element("caption", {}, `Every trial of ${data.experiment}. The buttons in the heads of the columns sort.`),
      heads(columns, sort),
      body,
    );
    place.querySelector("summary + p").replaceWith(
      about(data),
      element("div", { class: "raw-tools" }, ...filters, save),
      element("div", { class: "raw-scroll", tabindex: "0", role: "region", "aria-label": `every trial of ${data.experiment}` }, table),
      element("div", { class: "raw-pages" }, ...steps, said),
    );
    draw();
  };

  for (const place of document.querySelectorAll("details.raw")) {
    let built = false;
    place.addEventListener("toggle", () => {
      if (built || !place.open) return;
      built = true;
      build(place);
    });
  }
})();
