/* Completes what the theme leaves out for screen readers and the keyboard. */
new MutationObserver(() => {
  // A box with a button that copies is not a landmark.
  for (const nav of document.querySelectorAll("nav.md-code__nav")) nav.setAttribute("role", "none");
  for (const table of document.querySelectorAll(".md-typeset__scrollwrap"))
    if (table.scrollWidth > table.clientWidth) table.setAttribute("tabindex", "0");
}).observe(document.body, { childList: true, subtree: true });
