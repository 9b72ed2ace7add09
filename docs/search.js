/* Lets the search of the site find names such as pass^k and --model.

   `docs/site_pages.py` writes this code in front of the worker of the theme.  In a query, lunr reads
   "^" and a leading "-" as operators.  Therefore the index and the queries contain similar
   characters instead, and results contain the original characters.  After the name of an option,
   the index also contains its words, so that "chart size" finds --chart-size. */
const OPTION = /(?<![\w-])--?[a-z][\w-]*/gi, HIDDEN = /\u2063[^\u2063]*\u2063/g;
const hide = (text) => text.replace(/\^/g, "ˆ").replace(OPTION, (name) => name.replace(/-/g, "‐"));
const show = (text) => text.replace(HIDDEN, "").replace(/ˆ/g, "^").replace(/‐/g, "-");
const index = (text) => hide(text.replace(OPTION, (name) =>
  `${name}\u2063${name.split("-").join(" ").trim()}\u2063`));

addEventListener("message", ({ data: message }) => {
  if (message.type === 0)
    for (const page of message.data.docs) {
      page.title = index(page.title);
      page.text = index(page.text);
    }
  if (message.type === 2) message.data = hide(message.data);
});
const send = postMessage;
postMessage = (message) => send(JSON.parse(show(JSON.stringify(message))));
