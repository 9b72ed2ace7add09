"use strict";
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
