"use strict";
(() => {
  const rows = [...document.querySelectorAll("#table tbody tr")];
  const search = document.getElementById("search");
  const found = document.getElementById("found");
  const nothing = document.getElementById("none");
  const total = found.textContent;
  const left = document.getElementById("left-out") ? " listed" : "";
  const headers = new Map(); // of layers, by number
  for (const row of rows) if (row.dataset.group) headers.set(row.dataset.group, row);
  // What is searched: not the text of a line of code, which stands at many nodes.
  const texts = rows.map((row) => [
    ...[...row.querySelectorAll("th, td:not(.source), .source span")].map((each) => each.textContent),
    ...[...row.querySelectorAll("a[title], b[title], span[title]")].map((each) => each.title),
  ].join(" ").toLowerCase());
  const many = rows.length - headers.size;

  const isOpen = (header) => header.querySelector("button").getAttribute("aria-expanded") === "true";
  const setOpen = (header, open) => header.querySelector("button").setAttribute("aria-expanded", open);

  function* around(row) {
    let header = headers.get(row.dataset.in);
    while (header) {
      yield header;
      header = headers.get(header.dataset.in);
    }
  }

  function refresh() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) {
      for (const row of rows) row.hidden = ![...around(row)].every(isOpen);
      found.textContent = total;
      nothing.hidden = true;
      return;
    }
    const shown = new Set();
    let hits = 0;
    rows.forEach((row, place) => {
      if (row.dataset.group || !words.every((word) => inPlace(place, word))) return;
      hits += 1;
      shown.add(row);
      for (const header of around(row)) shown.add(header);
    });
    for (const row of rows) row.hidden = !shown.has(row);
    found.textContent = `${hits.toLocaleString("en")} of ${many.toLocaleString("en")}${left} nodes`;
    nothing.hidden = hits > 0;
  }

  // A word may stand in the row or in the path of the layer around it.
  function inPlace(place, word) {
    if (texts[place].includes(word)) return true;
    const header = headers.get(rows[place].dataset.in);
    return Boolean(header) && header.querySelector("button").title.toLowerCase().includes(word);
  }

  function foldAll(open) {
    for (const header of headers.values()) setOpen(header, open);
    search.value = "";
    refresh();
  }

  function goTo(id) {
    const row = document.getElementById(id);
    if (!row) return;
    search.value = "";
    for (const header of around(row)) setOpen(header, true);
    refresh();
    document.querySelectorAll(".hit").forEach((each) => each.classList.remove("hit"));
    row.classList.add("hit");
    document.querySelector(`.ta-graph a[href="#${id}"]`)?.classList.add("hit");
    row.scrollIntoView({ block: "center" });
    row.focus({ preventScroll: true });
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#n"]');
    if (link) { // by hand, as a link in a notebook's frame would leave the frame
      event.preventDefault();
      goTo(link.getAttribute("href").slice(1));
      return;
    }
    const header = event.target.closest("tr.group");
    if (header) {
      setOpen(header, !isOpen(header));
      refresh();
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && event.target !== search) {
      event.preventDefault();
      search.focus();
    } else if (event.key === "Escape" && event.target === search) {
      search.value = "";
      refresh();
    }
  });
  search.addEventListener("input", refresh);
  document.getElementById("fold").addEventListener("click", () => foldAll(false));
  document.getElementById("unfold").addEventListener("click", () => foldAll(true));
  for (const button of [document.getElementById("fold"), document.getElementById("unfold")]) {
    button.hidden = headers.size === 0;
  }
  if (rows.length > 120) foldAll(false);
  if (/^#n\d+$/.test(location.hash)) goTo(location.hash.slice(1));
})();
