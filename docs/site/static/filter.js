// Above long tables of functions, a box: rows without the words in it are hidden.
addEventListener("DOMContentLoaded", () => {
  for (const table of document.querySelectorAll("article table")) {
    const rows = [...table.querySelectorAll("tbody > tr")];
    if (rows.length < 20) continue;
    table.classList.add("long");
    const box = document.createElement("input");
    box.type = "search";
    box.className = "form-control filter";
    box.placeholder = `Filter ${rows.length} rows`;
    box.setAttribute("aria-label", box.placeholder);
    box.addEventListener("input", () => {
      const words = box.value.toLowerCase().split(/\s+/);
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
      }
    });
    (table.closest(".pst-scrollable-table-container") ?? table).before(box);
  }
});
