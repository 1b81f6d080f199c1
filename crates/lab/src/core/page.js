"use strict";
// A stage with ◂ takes an operand that was not written back.
// The data are replayed from their start up to a cycle: some thousand changes take no time.
const { run, recording } = JSON.parse(document.getElementById("data").textContent);
const at = id => document.getElementById(id);
const NAMES = "zero ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6".split(" ");
const LETTERS = { IF: "F", ID: "D", EX: "E", MEM: "M", WB: "W" };
const TITLES = { F: "IF", D: "ID", E: "EX", M: "MEM", W: "WB" };
const hex = (value, digits = 8) => "0x" + (value >>> 0).toString(16).padStart(digits, "0");
const short = value => (value >>> 0).toString(16);
const { first, last } = recording;
let cycle = first;
let timer = null;

// Makes an element; texts are never read as markup.
function make(tag, classes, ...children) {
  const element = document.createElement(tag);
  if (classes) element.className = classes;
  element.append(...children.filter(child => child !== null && child !== undefined));
  return element;
}

const cell = (row, when) => row.cells[when - row.start] || "";

// Returns what registers, memory and caches hold at the end of a cycle, and what changed in it.
function stateAt(when) {
  const state = {
    registers: recording.registers.slice(), csrs: recording.csrs.map(([, value]) => value),
    memory: new Map(recording.memory.map(word => [word.address, word.value])),
    caches: recording.caches.map(cache => cache.sets.map(set => set.slice())),
    counts: recording.caches.map(() => [0, 0]),
    output: recording.output, now: new Set(), lines: new Map(), events: [],
  };
  for (const change of recording.changes) {
    if (change.cycle > when) break;
    const now = change.cycle === when;
    if (change.register) {
      const [register, value] = change.register;
      if (now && state.registers[register] !== value) state.now.add("r" + register);
      state.registers[register] = value;
      if (now) state.events.push(NAMES[register] + " = " + hex(value) + " (" + (value | 0) + ")");
    } else if (change.csr) {
      const [number, value] = change.csr;
      state.csrs[number] = value;
      if (now) { state.now.add("c" + number); state.events.push(recording.csrs[number][0] + " = " + hex(value)); }
    } else if (change.memory) {
      const [address, value] = change.memory;
      state.memory.set(address, value);
      if (now) { state.now.add("m" + address); state.events.push("memory at " + hex(address) + " = " + hex(value)); }
    } else if (change.line) {
      const [number, set, way, line, hit] = change.line;
      state.caches[number][set][way] = line;
      state.counts[number][hit ? 0 : 1] += 1;
      if (now) {
        state.lines.set(number + "." + set + "." + way, hit ? "hit" : "miss");
        state.events.push(recording.caches[number].name + " cache: line " + hex(line) + (hit ? " is there" : " is missed and fetched"));
      }
    } else if (change.output) {
      state.output += change.output;
      if (now) state.events.push("output " + JSON.stringify(change.output));
    }
  }
  return state;
}

// Says why an instruction stays in a stage, by whether the next one is taken.
function held(letter, taken) {
  if (letter === "F") return taken("D") ? "held: ID is taken" : "held: the fetch waits for memory";
  if (letter === "D") return taken("E") ? "held: EX is taken" : "held: waits for an operand";
  if (letter === "E") return taken("M") ? "held: MEM is taken" : "held: takes several cycles";
  return "held: waits for its data";
}

function drawStages(when) {
  const there = letter => recording.rows.find(row => cell(row, when).toUpperCase() === letter);
  const boxes = recording.stages.map(name => {
    const letter = LETTERS[name];
    const row = there(letter);
    if (!row) return make("div", "stage", make("b", "", name), make("small", "", "empty"));
    const stays = cell(row, when) !== letter;
    const why = row.fate === "x" ? "wrong path" : stays ? held(letter, there) : row.fate === "t" ? "traps" : "";
    const code = make("code", row.fate === "x" ? "wrong" : "", row.text);
    return make("div", "stage " + letter + (stays ? " held" : ""), make("b", "", name), code,
      make("small", "", short(row.pc) + (why ? " · " + why : "")));
  });
  at("stages").replaceChildren(...boxes);
}

function drawDiagram(when) {
  const wide = Math.max(6, Math.min(24, Math.floor((at("diagram").parentElement.clientWidth - 230) / 38)));
  const from = Math.max(first, Math.min(when - Math.floor(wide / 2), last - wide + 1));
  const to = Math.min(last, from + wide - 1);
  const rows = recording.rows.filter(row => row.start <= to && row.start + row.cells.length > from);
  const head = make("tr", "", make("th", "n", "cycle"));
  for (let c = from; c <= to; c += 1) head.append(make("th", c === when ? "c now" : "c", String(c)));
  const lines = rows.map(row => {
    const name = make("th", "n" + (row.fate === "x" ? " wrong" : ""), short(row.pc) + " " + row.text);
    const line = make("tr", "", name);
    for (let c = from; c <= to; c += 1) {
      const letter = cell(row, c);
      const stage = letter.toUpperCase();
      const box = make("td", "", letter === "x" ? "flush" : letter === "." ? "·" : TITLES[stage] || "");
      if (TITLES[stage]) box.classList.add(stage);
      if (letter === "x") box.classList.add("x");
      if (TITLES[stage] && letter !== stage) box.classList.add("held");
      if (row.fate === "x" && letter !== "x") box.classList.add("wrong");
      if (row.forwarded.includes(c)) box.append("◂");
      if (c === when) box.classList.add("now");
      line.append(box);
    }
    return line;
  });
  at("diagram").replaceChildren(make("thead", "", head), make("tbody", "", ...lines));
}

function drawListing(when) {
  const there = new Map();
  for (const row of recording.rows) {
    const stage = cell(row, when).toUpperCase();
    if (TITLES[stage]) there.set(row.pc, (there.has(row.pc) ? there.get(row.pc) + " " : "") + TITLES[stage]);
  }
  const rows = [];
  let current = null;
  for (const one of recording.listing) {
    if (one.label) rows.push(make("tr", "", make("td"), make("td"), make("td", "label", one.label + ":")));
    const stage = there.get(one.pc) || "";
    const line = make("tr", stage ? "now" : "", make("td", "", stage), make("td", "", short(one.pc)),
      make("td", "", one.text), make("td", "quiet", one.line ? "line " + one.line : ""));
    if (stage.includes(recording.stages[2]) || (stage && !current)) current = line;
    rows.push(line);
    if (!one.goes_on) rows.push(make("tr", "", make("td", "quiet", "…")));
  }
  at("listing").replaceChildren(make("table", "", ...rows));
  if (current) at("listing").scrollTop = current.offsetTop - at("listing").clientHeight / 2;
}

function drawCaches(state) {
  const parts = recording.caches.map((cache, number) => {
    const [hits, misses] = state.counts[number];
    const counts = make("p", "quiet", cache.shape + ". In these cycles: " + hits + " hits, " + misses + " misses.");
    const head = make("h2", "", "Cache of " + cache.name);
    if (!cache.sets.length) return make("div", "", head, counts, make("p", "quiet", "It is too large to be shown."));
    const rows = state.caches[number].map((set, index) => make("tr", "", make("th", "quiet", "set " + index),
      ...set.map((line, way) => make("td", state.lines.get(number + "." + index + "." + way) || "",
        line === null ? "–" : short(line) + "…" + short(line + cache.line_bytes - 1)))));
    return make("div", "", head, counts, make("div", "scroll tall", make("table", "", ...rows)));
  });
  at("caches").replaceChildren(...parts);
}

// Draws misses over the size of the instruction cache, a bar for each kind of code.
function drawCurves() {
  if (!run.curves.length) return;
  const rate = (curve, point) => 1000 * point.misses / Math.max(1, curve.instructions);
  const largest = Math.max(...run.curves.flatMap(curve => curve.points.map(point => rate(curve, point))));
  const rows = run.curves[0].points.flatMap((point, at_) => run.curves.map((curve, number) => {
    const here = rate(curve, curve.points[at_]);
    const bar = make("span", "bar");
    bar.style.width = (11 * here / largest).toFixed(2) + "rem";
    return make("tr", number ? "second" : "", make("th", "", number ? "" : point.bytes + " B"), make("td", "quiet", curve.name),
      make("td", "", here.toFixed(1)), make("td", "", bar));
  }));
  at("curves").replaceChildren(make("h2", "", "Misses per 1 000 instructions, by the size of the instruction cache"),
    make("div", "scroll tall", make("table", "", ...rows)));
}

function draw() {
  const state = stateAt(cycle);
  at("slider").value = at("number").value = cycle;
  drawStages(cycle);
  drawDiagram(cycle);
  drawListing(cycle);
  drawCaches(state);
  const said = recording.said.filter(([when]) => when === cycle).map(([, what]) => what);
  at("said").replaceChildren(...said.concat(state.events).map(what => make("li", "", what)));
  at("registers").replaceChildren(...state.registers.map((value, number) =>
    make("span", state.now.has("r" + number) ? "changed" : "", make("b", "", NAMES[number]), hex(value))));
  at("csrs").replaceChildren(...state.csrs.map((value, number) =>
    make("span", state.now.has("c" + number) ? "changed" : "", make("b", "", recording.csrs[number][0]), hex(value))));
  const words = recording.memory.map(word => {
    const value = state.memory.get(word.address);
    return make("tr", state.now.has("m" + word.address) ? "changed" : "", make("td", "", hex(word.address)),
      make("td", "", hex(value)), make("td", "", String(value | 0)), make("td", "quiet", word.place));
  });
  at("memory").replaceChildren(words.length ? make("table", "", ...words) : make("p", "quiet", "Nothing is stored in these cycles."));
  at("output").textContent = state.output || "(nothing so far)";
}

function go(to) {
  cycle = Math.max(first, Math.min(last, Math.round(to)));
  if (!Number.isFinite(cycle)) cycle = first;
  history.replaceState(null, "", "#" + cycle);
  draw();
}

function stop() {
  clearInterval(timer);
  timer = null;
  at("play").textContent = "▶▶";
}

function play() {
  if (timer) return stop();
  at("play").textContent = "■";
  timer = setInterval(() => (cycle < last ? go(cycle + 1) : stop()), 600);
}

function nextEvent() {
  const said = recording.said.filter(([, what]) => /traps|comes before|goes to|resumes|waiting/.test(what)).map(([when]) => when);
  const missed = recording.changes.filter(change => change.line && !change.line[4]).map(change => change.cycle);
  go(Math.min(last, ...said.concat(missed).filter(when => when > cycle)));
}

const acts = { start: () => go(first), back: () => go(cycle - 1), play, forth: () => go(cycle + 1), end: () => go(last), event: nextEvent };
for (const [id, act] of Object.entries(acts)) at(id).addEventListener("click", act);
at("slider").addEventListener("input", event => go(Number(event.target.value)));
at("number").addEventListener("change", event => go(Number(event.target.value)));
document.addEventListener("keydown", event => {
  if (event.target.tagName === "INPUT" || event.ctrlKey || event.metaKey || event.altKey) return;
  const keys = { ArrowLeft: "back", ArrowRight: "forth", Home: "start", End: "end", n: "event" };
  if (event.key === " " && event.target.tagName !== "BUTTON") play();
  else if (keys[event.key]) acts[keys[event.key]]();
  else return;
  event.preventDefault();
});
addEventListener("resize", draw);
drawCurves();

document.title = "scruple · " + run.file;
at("name").textContent = run.file;
at("ending").textContent = run.failure ? "The program failed: " + run.failure : run.limited ? "The program did not end: it was stopped at the limit." : "End: " + run.ended + ".";
at("ending").className = run.failure ? "failed" : "";
at("facts").textContent = run.instructions.toLocaleString("en") + " instructions in " + run.cycles.toLocaleString("en") + " cycles: " +
  (run.cycles / Math.max(1, run.instructions)).toFixed(3) + " cycles per instruction. This page holds cycles " + first + " to " + last + "; " + recording.ending + ".";
at("of").textContent = "of " + first + " to " + last;
for (const id of ["slider", "number"]) { at(id).min = first; at(id).max = last; }
at("footer").textContent = "Made by scruple " + run.scruple + ". This file needs no network. Pipeline: " +
  run.pipeline.map(one => one.name + " " + one.value).join(", ") + ".";
const asked = location.hash.slice(1);
go(asked ? Number(asked) : first);
