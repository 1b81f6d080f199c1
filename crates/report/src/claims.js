"use strict";
// Shows the claims of one verdict. The address keeps the choice, so that it can be passed on.
(() => {
  const filter = document.getElementById("filter");
  if (!filter) return;
  const sections = Array.from(document.querySelectorAll("[data-verdict]"));
  const choices = Array.from(filter.querySelectorAll("input"));

  const show = (verdict) => {
    for (const section of sections) {
      section.hidden = verdict !== "all" && section.dataset.verdict !== verdict;
    }
  };

  const choose = (verdict) => {
    const choice = choices.find((one) => one.value === verdict) || choices[0];
    choice.checked = true;
    show(choice.value);
  };

  filter.hidden = false;
  filter.addEventListener("change", (event) => {
    show(event.target.value);
    history.replaceState(null, "", `#${event.target.value}`);
  });
  addEventListener("hashchange", () => choose(location.hash.slice(1)));
  choose(location.hash.slice(1));

  // Paper cannot be unfolded: what is closed is opened for the printer and closed again.
  let unfolded = [];
  addEventListener("beforeprint", () => {
    unfolded = Array.from(document.querySelectorAll("details:not([open]):not(.raw, .behind)"));
    for (const details of unfolded) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of unfolded) details.open = false;
  });
})();
