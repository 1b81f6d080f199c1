"use strict";
// The contents beside the text: which chapter is being read, and, where there is no room beside
// the text, a button that unfolds them.
(() => {
  const rail = document.getElementById("rail");
  if (!rail) return;
  const links = Array.from(rail.querySelectorAll("ol a"));
  const places = links.map((link) => document.getElementById(link.hash.slice(1)));
  let current = null;

  // The chapter that holds the line a third down the window; above the first, none.
  const mark = () => {
    const line = innerHeight / 3;
    let found = -1;
    places.forEach((place, index) => {
      if (place && place.getBoundingClientRect().top <= line) found = index;
    });
    const link = links[found] || null;
    if (link === current) return;
    if (current) current.removeAttribute("aria-current");
    current = link;
    if (!link) return;
    link.setAttribute("aria-current", "location");
    const list = link.closest("ol");
    const [top, room] = [link.offsetTop - list.offsetTop, list.clientHeight];
    if (top < list.scrollTop || top + link.offsetHeight > list.scrollTop + room) list.scrollTop = top - room / 2;
  };
  let waiting = false;
  const later = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      mark();
    });
  };
  addEventListener("scroll", later, { passive: true });
  addEventListener("resize", later);
  mark();

  const toggle = rail.querySelector(".rail-toggle");
  const show = (open) => {
    rail.classList.toggle("open", open);
    toggle.setAttribute("aria-expanded", String(open));
  };
  toggle.hidden = false;
  show(false);
  toggle.addEventListener("click", () => show(!rail.classList.contains("open")));
  rail.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !rail.classList.contains("open")) return;
    show(false);
    toggle.focus();
  });
  rail.addEventListener("click", (event) => {
    if (event.target.closest("ol a")) show(false);
  });
  document.addEventListener("pointerdown", (event) => {
    if (!rail.contains(event.target)) show(false);
  });

  // A command is copied where the browser lets a page do it; a file that was opened from a disk
  // counts as safe for that in some browsers and in others not.
  for (const code of document.querySelectorAll(".repeat code")) {
    if (!navigator.clipboard) break;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy the command");
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(code);
        button.textContent = "Selected: copy it by hand";
      }
    });
    code.after(" ", button);
  }
})();
