"use strict";
// On the page of claims: a choice of verdicts. Without it all of them are shown, each verdict in a section
// of its own. The address keeps the choice, so that it can be passed on.
(() => {
  const claims = document.getElementById("claims");
  if (!claims) return;
  const sections = Array.from(claims.querySelectorAll("section"));
  const countOf = (section) => section.querySelectorAll(".claims > details").length;
  const all = sections.reduce((sum, section) => sum + countOf(section), 0);
  const filter = document.createElement("fieldset");
  filter.id = "filter";
  filter.append(Object.assign(document.createElement("legend"), { textContent: "Show" }));
  const choices = [["all", all], ...sections.map((section) => [section.id, countOf(section)])].map(([value, count]) => {
    const [label, text] = ["label", "span"].map((name) => document.createElement(name));
    const input = Object.assign(document.createElement("input"), { type: "radio", name: "verdict", value });
    text.textContent = `${value} (${count})`;
    label.append(input, text);
    filter.append(label);
    return input;
  });
  claims.before(filter);

  const choose = (verdict) => {
    const choice = choices.find((one) => one.value === verdict) || choices[0];
    choice.checked = true;
    for (const section of sections) section.hidden = choice.value !== "all" && section.id !== choice.value;
  };
  filter.addEventListener("change", (event) => {
    choose(event.target.value);
    history.replaceState(null, "", `#${event.target.value}`);
  });
  addEventListener("hashchange", () => choose(location.hash.slice(1)));
  choose(location.hash.slice(1));

  // Paper cannot be unfolded: what is closed is opened for the printer and closed again.
  let unfolded = [];
  addEventListener("beforeprint", () => {
    unfolded = Array.from(document.querySelectorAll("details:not([open])"));
    for (const details of unfolded) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of unfolded) details.open = false;
  });
})();
