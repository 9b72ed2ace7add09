"use strict";
const value = (row, place) => {
  const cell = row.cells[place];
  return cell.dataset.key === undefined ? cell.textContent : Number(cell.dataset.key);
};
const before = (a, b) =>
  typeof a === "number" && typeof b === "number" ? a - b
    : typeof a !== typeof b ? (typeof a === "number" ? -1 : 1)
    : a.localeCompare(b, undefined, { numeric: true });

for (const button of document.querySelectorAll("th button")) {
  button.addEventListener("click", () => {
    const head = button.closest("th"), body = head.closest("table").tBodies[0];
    const place = head.cellIndex, rows = [...body.rows];
    const numbers = rows.some((row) => row.cells[place].dataset.key !== undefined);
    const was = head.getAttribute("aria-sort");
    const up = was ? was === "descending" : !numbers;
    for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    rows.sort((a, b) => before(value(a, place), value(b, place)) * (up ? 1 : -1));
    body.append(...rows);
  });
}

for (const find of document.querySelectorAll(".find")) {
  const input = find.querySelector("input"), count = find.querySelector("output");
  const rows = [...find.parentNode.querySelectorAll("tbody tr")];
  const texts = rows.map((row) => row.textContent.toLowerCase());
  input.addEventListener("input", () => {
    const word = input.value.trim().toLowerCase();
    let left = 0;
    rows.forEach((row, place) => {
      row.hidden = !texts[place].includes(word);
      left += row.hidden ? 0 : 1;
    });
    count.textContent = word ? `${left} of ${rows.length} rows` : `${rows.length} rows`;
  });
}

addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details")) details.open = true;
});
