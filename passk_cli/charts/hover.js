"use strict";
// Where the reader has other fonts, a drawing is as wide as their letters make it.
for (const drawing of document.querySelectorAll(".legend svg, .panels svg")) {
  const box = drawing.getBBox(), view = drawing.viewBox.baseVal, width = view.width;
  const end = Math.max(width, box.x + box.width);
  view.x = Math.min(0, box.x);
  view.width = end - view.x;
  drawing.width.baseVal.value *= view.width / width;
}
const tip = document.getElementById("tip");
const tell = (mark, x, y) => {
  tip.hidden = !mark;
  if (!mark) return;
  const row = mark.closest("[data-row]");
  const words = [row && row.getAttribute("data-row"), mark.getAttribute("data-say")];
  tip.textContent = words.filter(Boolean).join("\n");
  const room = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - room.width - 8))}px`;
  tip.style.top = `${Math.max(4, Math.min(y + 14, innerHeight - room.height - 8))}px`;
};
const show = (event) => {
  const mark = event.target.closest ? event.target.closest("svg [data-say]") : null;
  tell(mark, event.clientX, event.clientY);
};
addEventListener("pointermove", show);
addEventListener("pointerdown", show);
// With the keyboard, Tab reaches a drawing, and the arrow keys move from mark to mark.
for (const drawing of document.querySelectorAll(".panels svg")) {
  const marks = [...drawing.querySelectorAll("[data-say]")];
  if (!marks.length) continue;
  let place = -1;
  drawing.tabIndex = 0;
  drawing.setAttribute("role", "group");
  drawing.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    place = Math.max(0, Math.min(marks.length - 1, place + step));
    const box = marks[place].getBoundingClientRect();
    tell(marks[place], box.right, box.top);
  });
  drawing.addEventListener("blur", () => tell(null));
}
