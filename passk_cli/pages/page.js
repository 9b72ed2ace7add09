"use strict";
// The choices of the reader are in the URL, so that you can send a link: #metric=pass@10&find=gpt.
const state = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
const keep = (name, value) => {
  if (value) state.set(name, value); else state.delete(name);
  const text = state.toString();
  history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
};

const value = (row, place) => {
  const cell = row.cells[place];
  return cell.dataset.key === undefined ? cell.textContent : Number(cell.dataset.key);
};
const before = (a, b) =>
  typeof a === "number" && typeof b === "number" ? a - b
    : typeof a !== typeof b ? (typeof a === "number" ? -1 : 1)
    : a.localeCompare(b, undefined, { numeric: true });
const mark = (head, up) => {
  for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", up ? "ascending" : "descending");
};
const turned = (head, first) => {
  const was = head.getAttribute("aria-sort");
  return was ? was === "descending" : first;
};
const sort = (head, up) => {
  const body = head.closest("table").tBodies[0], place = head.cellIndex;
  mark(head, up);
  // Cells without a number are sorted last in both directions.
  const bare = (row) => head.classList.contains("number") && row.cells[place].dataset.key === undefined;
  body.append(...[...body.rows].sort((a, b) =>
    bare(a) - bare(b) || before(value(a, place), value(b, place)) * (up ? 1 : -1)));
};
const words = (input) => input.value.trim().toLowerCase();

for (const part of document.querySelectorAll(".table")) {
  const rows = [...part.querySelectorAll("tbody tr")];
  for (const button of part.querySelectorAll("th button")) {
    const head = button.closest("th"), place = head.cellIndex;
    const numbers = rows.some((row) => row.cells[place].dataset.key !== undefined);
    button.addEventListener("click", () => sort(head, turned(head, !numbers)));
  }
  const input = part.querySelector("input"), count = part.querySelector("output");
  const texts = rows.map((row) =>
    [...row.cells].map((cell) => `${cell.textContent} ${cell.title}`).join("\n").toLowerCase());
  if (input) input.addEventListener("input", () => {
    const left = rows.filter((row, at) => !(row.hidden = !texts[at].includes(words(input))));
    count.textContent = words(input) ? `${left.length} of ${rows.length} rows` : `${rows.length} rows`;
  });
}

const element = (tag, text, name) => {
  const made = document.createElement(tag);
  if (text) made.textContent = text;
  if (name) made.className = name;
  return made;
};
// Suffix of the anchors of a section → the results of all models at its tasks.
const grids = {};
for (const part of document.querySelectorAll(".tasks")) {
  const data = JSON.parse(part.querySelector("script").textContent);
  // A result is "++-" for attempts in their order, or "2/3" if the order is not known.
  const results = data.results.map((text) => {
    const [c, n] = text.includes("/") ? text.split("/").map(Number)
      : [text.split("+").length - 1, text.length];
    return { c, n, rate: n ? c / n : null, strip: text.includes("/") ? "" : text };
  });
  const at = (model, task) => results[parseInt(
    data.codes[model].slice(task * data.digits, (task + 1) * data.digits), 36)];
  const tasks = data.tasks.map((name, place) => {
    const all = data.models.map((_, model) => at(model, place)), tried = all.filter((one) => one.n);
    const rate = tried.reduce((sum, one) => sum + one.rate, 0) / tried.length;
    const solved = tried.filter((one) => one.c).length;
    return { name, all, rate, solved, tried: tried.length };
  });
  grids[part.dataset.end] = { data, tasks };
}
// The number of names, the first names, and further names that open with a click.
const listed = (noun, names, most = 6) => {
  const count = `${names.length} ${noun}${names.length === 1 ? "" : "s"}`;
  const first = element("bdi", names.length ? `${count}: ${names.slice(0, most).join(", ")}` : `no ${noun}`);
  if (names.length <= most) return [first];
  const rest = element("details");
  rest.append(element("summary", `and ${names.length - most} more`), names.slice(most).join(", "));
  return [first, " ", rest];
};

for (const board of document.querySelectorAll(".board")) {
  const end = board.dataset.end, rows = [...board.querySelectorAll("tbody tr")];
  const heads = [...board.querySelectorAll("thead th")];
  const metrics = heads.filter((head) => head.classList.contains("value"));
  const named = (name) => heads.find((head) => head.querySelector("button")?.textContent === name);
  const find = board.querySelector("[name=find]"), tied = board.querySelector("[name=tied]");
  const radios = [...board.querySelectorAll("[type=radio]")];
  const name = (row) => row.querySelector("bdi").textContent;
  // The letters "ac–e" mean a, c, d and e.  The letter after z is a1.
  const place = (name) => name.charCodeAt(0) - 97 + 26 * Number(name.slice(1));
  const letters = (row) => {
    const all = new Set();
    for (const run of (row.querySelector(".ties.on")?.textContent || "").match(/[a-z]\d*(–[a-z]\d*)?/g) || []) {
      const [first, last = first] = run.split("–").map(place);
      for (let at = first; at <= last; at++) all.add(at);
    }
    return all;
  };

  let chosen = 0, opened = state.get(`model${end}`), detail;
  // Details of a model: pairs, other metrics, and tasks that only this model passes or fails.
  const facts = (row) => {
    const own = letters(row), place = metrics[chosen].cellIndex, made = [];
    if (own.size) {
      const sign = "lower" in metrics[chosen].dataset ? -1 : 1, groups = [[], [], []];
      const ahead = (other) => sign * (value(other, place) - value(row, place));
      const rivals = rows.filter((other) => other !== row && letters(other).size)
        .sort((a, b) => Math.abs(ahead(a)) - Math.abs(ahead(b)));
      for (const other of rivals) {
        const tie = [...letters(other)].some((letter) => own.has(letter));
        groups[tie ? 1 : ahead(other) > 0 ? 0 : 2].push(name(other));
      }
      ["Significantly better", "Tied", "Significantly worse"].forEach((verdict, at) =>
        made.push([verdict, listed("model", groups[at])]));
    }
    for (const head of metrics) made.push([head.querySelector("button").textContent, [element("bdi", row.cells[head.cellIndex].textContent)]]);
    const grid = grids[end], model = grid ? grid.data.models.indexOf(name(row)) : -1;
    if (model >= 0) {
      const solves = (task) => task.all[model].c > 0 && task.solved === 1;
      const fails = (task) => task.all[model].n && !task.all[model].c && task.solved === task.tried - 1;
      for (const [label, test] of [["Solved only by this model", solves], ["Failed only by this model", fails]])
        made.push([label, listed("task", grid.tasks.filter((t) => t.tried > 1 && test(t)).map((t) => t.name))]);
    }
    return made;
  };
  const open = () => {
    detail?.remove();
    for (const row of rows) {
      const button = row.querySelector(".task"), own = name(row) === opened;
      button?.setAttribute("aria-expanded", own);
      if (!button || !own || row.hidden) continue;
      const cell = element("td"), list = element("ul", "", "facts");
      detail = element("tr", "", "detail");
      cell.colSpan = heads.length;
      for (const [label, parts] of facts(row)) {
        const line = element("li");
        line.append(element("b", label), " ", ...parts);
        list.append(line);
      }
      cell.append(list);
      detail.append(cell);
      row.after(detail);
    }
  };
  if (rows.length > 1) for (const row of rows) {
    const label = row.querySelector("bdi"), button = element("button", "", "task");
    button.type = "button";
    label.replaceWith(button);
    button.append(label);
    button.addEventListener("click", () => {
      opened = name(row) === opened ? null : name(row);
      keep(`model${end}`, opened);
      open();
    });
  }

  const filter = () => {
    const other = tied?.value && letters(rows.find((row) => name(row) === tied.value));
    const left = rows.filter((row) => {
      const found = !find || name(row).toLowerCase().includes(words(find));
      const alike = !other || name(row) === tied.value || [...letters(row)].some((l) => other.has(l));
      return !(row.hidden = !(found && alike));
    });
    const count = board.querySelector("output");
    if (count) count.textContent =
      left.length < rows.length ? `${left.length} of ${rows.length} models` : `${rows.length} models`;
    open();
  };
  // If the table is too wide, the last metrics that are not chosen are hidden.
  const fit = () => {
    const wide = board.querySelector(".wide");
    const hide = (head, away) =>
      [heads[0].parentNode, ...rows].forEach((row) => { row.cells[head.cellIndex].hidden = away; });
    metrics.forEach((head) => hide(head, false));
    for (const head of metrics.filter((_, place) => place !== chosen).reverse())
      if (wide.scrollWidth > wide.clientWidth) hide(head, true);
  };
  addEventListener("resize", fit);
  const choose = (place) => {
    chosen = place;
    const first = metrics[place].cellIndex;
    const last = place + 1 < metrics.length ? metrics[place + 1].cellIndex : first + 3;
    for (const row of [heads[0].parentNode, ...rows]) {
      [...row.cells].forEach((cell, at) => {
        if (/value|metric/.test(cell.className)) cell.classList.toggle("on", first <= at && at < last);
      });
      const rank = row.querySelector("td.rank");
      if (rank) rank.textContent = rank.dataset.places.split("|")[place];
    }
    // A metric without tests has no ties, so the choice of tied models is disabled.
    if (tied) tied.disabled = !board.querySelector("th.ties.on");
    if (tied?.disabled) tied.value = "";
    filter();
    fit();
  };
  const order = (head, up) => {
    detail?.remove();
    sort(head, up);
    open();
    const usual = head === metrics[chosen] && up === ("lower" in head.dataset);
    keep(`sort${end}`, usual ? "" : (up ? "" : "-") + head.querySelector("button").textContent);
  };
  for (const head of heads) {
    const button = head.querySelector("button");
    const up = !head.classList.contains("number") || "lower" in head.dataset;
    if (button) button.addEventListener("click", () => order(head, turned(head, up)));
  }
  radios.forEach((radio, place) => radio.addEventListener("change", () => {
    keep(`metric${end}`, place ? radio.value : "");
    choose(place);
    order(metrics[place], "lower" in metrics[place].dataset);
  }));
  find?.addEventListener("input", () => { keep(`find${end}`, find.value.trim()); filter(); });
  tied?.addEventListener("change", () => { keep(`tied${end}`, tied.value); filter(); });

  const wanted = radios.findIndex((radio) => radio.value === state.get(`metric${end}`));
  if (wanted >= 0) radios[wanted].checked = true;
  if (find) find.value = state.get(`find${end}`) || "";
  if (tied) tied.value = state.get(`tied${end}`) || "";
  if (tied && tied.selectedIndex < 0) tied.value = "";
  choose(Math.max(wanted, 0));
  const asked = state.get(`sort${end}`) || "", head = named(asked.replace(/^-/, ""));
  if (head) order(head, !asked.startsWith("-"));
  else if (chosen) order(metrics[chosen], "lower" in metrics[chosen].dataset);
}

const SHOWN = 12, ON_PAPER = 500;
for (const part of document.querySelectorAll(".tasks")) {
  const end = part.dataset.end, { data, tasks } = grids[end];
  const alone = data.models.length === 1;
  const body = part.querySelector("tbody"), more = part.querySelector(".more");
  const find = part.querySelector("[name=find]"), kind = part.querySelector("[name=class]");
  const heads = [...part.querySelectorAll("thead th")];
  const keys = [(task) => task.name, (task) => task.rate, (task) => task.solved];
  let every = false, paper = false, sorted = 0, up = true, open = state.get(`task${end}`);

  const address = (model, task, attempt) => {
    const fields = { model: data.models[model], task: task.name, attempt: data.first + attempt };
    return data.link.replace(/\{(model|task|attempt)\}/g, (_, name) => encodeURIComponent(fields[name]));
  };
  const linked = (model, task, attempt, text) => {
    const link = element("a", text);
    link.href = address(model, task, attempt);
    return link;
  };
  const strip = (model, task) => {
    const { c, n, strip: signs } = task.all[model], made = element("span", "", "strip");
    const own = data.link.includes("{attempt}");
    for (let place = 0; place < (own ? n : signs.length); place++) {
      const text = signs ? (signs[place] === "+" ? "●" : "○") : `${place + 1} `;
      made.append(own ? linked(model, task, place, text) : text);
    }
    if (signs) made.title = "● passed, ○ failed, in the order of the attempts";
    const counted = n ? ` ${c} of ${n}` : "no attempts";
    const line = [made, counted];
    if (data.link && !own && n) line.push(" ", linked(model, task, 0, "transcript"));
    return line;
  };
  const heat = (task) => {
    const canvas = element("canvas"), models = task.all.length;
    canvas.width = models;
    canvas.height = 1;
    canvas.style.width = `min(100%, ${Math.max(4, Math.min(26, Math.floor(540 / models))) * models}px)`;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `${task.solved} of ${task.tried} models pass`);
    const pen = canvas.getContext("2d");
    const [pass, none] = ["--series-0", "--grid"].map((name) =>
      getComputedStyle(part).getPropertyValue(name));
    task.all.forEach(({ rate }, model) => {
      pen.fillStyle = rate === null ? none : pass;
      pen.globalAlpha = rate ?? 1;
      pen.fillRect(model, 0, 1, 1);
    });
    return canvas;
  };
  const opened = (task) => {
    const row = element("tr"), cell = element("td"), list = element("ul", "", "attempts");
    cell.colSpan = heads.length;
    task.all.forEach((_, model) => {
      const line = element("li");
      line.append(element("bdi", data.models[model]), " ", ...strip(model, task));
      list.append(line);
    });
    cell.append(list);
    row.append(cell);
    return row;
  };
  const rowOf = (task) => {
    const row = element("tr"), name = element("td", "", "text"), last = element("td", "", "heat");
    const rate = element("td", task.rate.toFixed(2), "number");
    if (alone) {
      name.append(element("bdi", task.name));
      last.append(...strip(0, task));
      row.append(name, rate, last);
      return [row];
    }
    const button = element("button", task.name, "task");
    button.setAttribute("aria-expanded", task.name === open);
    button.addEventListener("click", () => {
      open = task.name === open ? null : task.name;
      keep(`task${end}`, open);
      draw();
      [...body.querySelectorAll(".task")].find((one) => one.textContent === task.name)?.focus();
    });
    name.append(button);
    last.append(heat(task));
    row.append(name, rate, element("td", `${task.solved} of ${task.tried}`, "number"), last);
    return task.name === open ? [row, opened(task)] : [row];
  };
  const draw = () => {
    const kinds = { none: (task) => !task.solved, every: (task) => task.rate === 1,
      some: (task) => task.solved && task.rate < 1 };
    const left = tasks.filter((task) => task.name.toLowerCase().includes(words(find))
      && (!kind.value || kinds[kind.value](task)));
    left.sort((a, b) => before(keys[sorted](a), keys[sorted](b)) * (up ? 1 : -1));
    const visible = left.filter((task, place) =>
      every || place < (paper ? ON_PAPER : SHOWN) || task.name === open);
    body.replaceChildren(...visible.flatMap(rowOf));
    const noun = `task${tasks.length === 1 ? "" : "s"}`;
    const counted = paper ? visible : left;
    part.querySelector("output").textContent = counted.length < tasks.length
      ? `${counted.length} of ${tasks.length} ${noun}` : `${tasks.length} ${noun}`;
    more.hidden = visible.length === left.length;
    more.textContent = `Show all ${left.length} tasks`;
  };
  heads.forEach((head, place) => head.querySelector("button")?.addEventListener("click", () => {
    up = turned(head, true);
    sorted = place;
    mark(head, up);
    draw();
  }));
  find.value = state.get(`tasks${end}`) || "";
  kind.value = state.get(`class${end}`) || "";
  if (kind.selectedIndex < 0) kind.value = "";
  find.addEventListener("input", () => { keep(`tasks${end}`, find.value.trim()); draw(); });
  kind.addEventListener("change", () => { keep(`class${end}`, kind.value); draw(); });
  more.addEventListener("click", () => { every = true; draw(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  // Printed pages show more tasks, because paper has no button for more.
  for (const [event, begins] of [["beforeprint", true], ["afterprint", false]])
    addEventListener(event, () => { paper = begins; draw(); });
  draw();
  if (open) body.querySelector("[aria-expanded=true]")?.scrollIntoView({ block: "center" });
}
