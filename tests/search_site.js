/* Searches a built site: node search_site.js SITE QUERY... prints the places found per query.

   It runs the worker that a page of the site starts, with the index that the page gives it. */
const fs = require("fs"), path = require("path"), vm = require("vm");
const [site, ...queries] = process.argv.slice(2);
const folder = path.join(site, "assets/javascripts/workers");
const worker = fs.readdirSync(folder).find((name) => /^search\..*\.min\.js$/.test(name));
const index = JSON.parse(fs.readFileSync(path.join(site, "search/search_index.json"), "utf8"));
const listeners = [], answers = [];
const scope = vm.createContext({
  console, addEventListener: (_, listener) => listeners.push(listener),
  postMessage: (message) => answers.push(message),
});
vm.runInContext("self = globalThis;" + fs.readFileSync(path.join(folder, worker), "utf8"), scope);
async function ask(type, data) {
  const event = { data: { type, data } };
  listeners.forEach((listener) => listener(event));
  const count = answers.length;
  while (answers.length === count) await new Promise(setImmediate);
  return answers.at(-1).data;
}
(async () => {
  await ask(0, { ...index, options: { suggest: true } });
  const found = {};
  for (const query of queries) found[query] = (await ask(2, query)).items.flat();
  console.log(JSON.stringify(found));
})();
