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
const show = (event) => {
  const mark = event.target.closest ? event.target.closest("svg [data-say]") : null;
  tip.hidden = !mark;
  if (!mark) return;
  const row = mark.closest("[data-row]");
  const words = [row && row.getAttribute("data-row"), mark.getAttribute("data-say")];
  tip.textContent = words.filter(Boolean).join("\n");
  const room = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - room.width - 8))}px`;
  tip.style.top = `${Math.max(4, Math.min(event.clientY + 14, innerHeight - room.height - 8))}px`;
};
addEventListener("pointermove", show);
addEventListener("pointerdown", show);
