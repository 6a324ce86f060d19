// The page of a report: reads the packed episodes, filters and lists them, and shows an episode's trace from the
// script that holds it. Everything from rows and traces reaches the page as text, never as markup.
"use strict";

const ROW = 28; // pixels, as in the style
const TALLEST = 8e6; // pixels; browsers cannot scroll further than some ten millions
const KEPT = 8; // scripts whose traces stay in memory
const FILTERS = ["method", "env", "variant", "task", "status", "kind"];
const SEARCHED = ["method", "env", "variant", "task", "status", "kind", "reason", "instruction", "cell"];
const LIST = [ // column, heading, classes
  ["method", "method", ""], ["env", "env", "lesser"], ["variant", "variant", "minor"], ["task", "task", ""],
  ["scene", "scene", "number minor"], ["seed", "seed", "number minor"], ["status", "status", ""],
  ["kind", "kind", ""], ["trials", "trials", "number minor"], ["calls", "calls", "number minor"],
  ["tokens", "tokens", "number minor"], ["seconds", "seconds", "number minor"], ["reason", "reason", "lesser"],
];
const SIGNS = {success: "✓ ", failure: "✗ ", error: "! "};
const STEPS = {ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15, Home: -Infinity, End: Infinity};

const $ = id => document.getElementById(id);
let table, shown, chosen = -1, sorting = null;
const scripts = new Map(); // number to a promise of its episodes
const arrivals = new Map(); // number to what is to be done with its packed text

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

async function unpacked(text) {
  const packed = await fetch("data:application/octet-stream;base64," + text);
  return new Response(packed.body.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

// ---- the table of episodes

async function readTable() {
  const data = await unpacked($("data").textContent.trim());
  const end = new Uint8Array(data).indexOf(10);
  const described = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 0, end)));
  const columns = {};
  let offset = end + 1;
  for (const {name, type, values} of described.columns) {
    const bytes = data.slice(offset, offset += 4 * described.count);
    columns[name] = {values, data: type === "f4" ? new Float32Array(bytes) : new Int32Array(bytes)};
  }
  return {count: described.count, columns};
}

function value(name, index) {
  const {values, data} = table.columns[name];
  return values ? values[data[index]] : data[index];
}

function key(index) {
  return `${value("task", index)}-s${value("scene", index)}-i${value("wording", index)}`;
}

function address(index) {
  return `${value("cell", index)}/${key(index)}`;
}

function filtered() {
  const chosenCodes = [];
  for (const name of FILTERS) {
    const wanted = $(name).value;
    if (wanted === "") continue;
    chosenCodes.push([table.columns[name].data, table.columns[name].values.indexOf(wanted.slice(1))]);
  }
  const words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean).map(word => ({
    word, columns: SEARCHED.map(name => {
      const {values, data} = table.columns[name];
      return [data, Uint8Array.from(values, text => text.toLowerCase().includes(word))];
    }).filter(([, hits]) => hits.includes(1)),
  }));
  const found = new Uint32Array(table.count);
  let count = 0;
  for (let i = 0; i < table.count; i++) {
    if (chosenCodes.every(([data, code]) => data[i] === code)
        && words.every(({word, columns}) => columns.some(([data, hits]) => hits[data[i]])
          || (/[-\d]/.test(word) && key(i).toLowerCase().includes(word)))) found[count++] = i;
  }
  const result = found.slice(0, count);
  if (sorting) {
    const {data} = table.columns[sorting.name];
    const sign = sorting.down ? -1 : 1;
    result.sort((a, b) => sign * (data[a] - data[b]) || a - b);
  }
  return result;
}

function update() {
  const before = chosen >= 0 ? shown[chosen] : -1;
  shown = filtered();
  chosen = before >= 0 ? shown.indexOf(before) : -1;
  const verdicts = {success: 0, failure: 0, error: 0};
  const {values, data} = table.columns.status;
  for (const index of shown) verdicts[values[data[index]]]++;
  const judged = verdicts.success + verdicts.failure;
  $("count").textContent = `${shown.length.toLocaleString("en")} of ${table.count.toLocaleString("en")} episodes: `
    + `${verdicts.success} successes of ${judged}` + (judged ? ` (${(100 * verdicts.success / judged).toFixed(1)} %)` : "")
    + `, ${verdicts.error} errors`;
  $("scroll").style.height = `${Math.min(shown.length * ROW, TALLEST)}px`;
  draw();
}

function room() {
  return Math.max(1, Math.floor($("list").clientHeight / ROW));
}

function first() {
  const list = $("list");
  const way = list.scrollHeight - list.clientHeight;
  const last = Math.max(0, shown.length - room());
  return way > 0 ? Math.round(Math.min(1, list.scrollTop / way) * last) : 0;
}

function draw() {
  const top = first();
  const rows = [];
  for (let at = top; at < Math.min(shown.length, top + room() + 1); at++) {
    const index = shown[at];
    const row = element("div", {className: "row", id: `row${at}`});
    row.setAttribute("role", "option");
    row.setAttribute("aria-selected", at === chosen);
    row.setAttribute("aria-posinset", at + 1);
    row.setAttribute("aria-setsize", shown.length);
    row.dataset.at = at;
    for (const [name, , classes] of LIST) {
      const text = name === "seconds" ? number(value(name, index)) : String(value(name, index));
      const status = name === "status" ? ` ${text}` : "";
      row.append(element("span", {className: classes + status, title: text,
        textContent: name === "status" ? (SIGNS[text] ?? "") + text : text}));
    }
    rows.push(row);
  }
  $("window").style.height = `${Math.min(rows.length, room()) * ROW}px`;
  $("window").replaceChildren(...rows);
  $("list").setAttribute("aria-activedescendant", chosen >= 0 ? `row${chosen}` : "");
}

function choose(at) {
  if (!shown.length) return;
  chosen = Math.max(0, Math.min(shown.length - 1, at));
  const top = first();
  if (chosen < top || chosen >= top + room()) {
    const wanted = chosen < top ? chosen : chosen - room() + 1;
    const list = $("list");
    list.scrollTop = wanted / Math.max(1, shown.length - room()) * (list.scrollHeight - list.clientHeight);
  }
  draw();
}

function number(amount) {
  return Number.isNaN(amount) ? "unknown" : String(+amount.toPrecision(4));
}

// ---- what an address says: filters, search, and the open episode

function written(open) {
  const said = new URLSearchParams();
  for (const name of FILTERS) if ($(name).value) said.set(name, $(name).value.slice(1));
  if ($("search").value) said.set("search", $("search").value);
  if (open) said.set("open", open);
  history.replaceState(null, "", "#" + said);
}

function follow() {
  const said = new URLSearchParams(location.hash.slice(1));
  for (const name of FILTERS) $(name).value = said.has(name) ? "=" + said.get(name) : "";
  $("search").value = said.get("search") ?? "";
  update();
  if (said.has("open")) {
    chosen = shown.findIndex(index => address(index) === said.get("open"));
    if (chosen >= 0) open(chosen);
  }
}

// ---- one episode

window.engramTraces = (script, text) => arrivals.get(script)(text);

function traces(script) {
  if (scripts.has(script)) return scripts.get(script);
  const loaded = new Promise((resolve, reject) => {
    arrivals.set(script, resolve);
    document.head.append(element("script", {src: `report/${script}.js`, onerror: () => reject(new Error(
      `report/${script}.js is not beside this page. Copy the folder report with it, or make the report again.`))}));
  }).then(unpacked).then(data => {
    const episodes = JSON.parse(new TextDecoder().decode(data));
    const texts = {}; // messages that were said before are named by their id
    for (const {events} of Object.values(episodes)) for (const {messages = []} of events) for (const message of messages) {
      if (message.id) texts[message.id] = message.text;
      else message.text = texts[message.ref];
    }
    return episodes;
  });
  loaded.catch(() => scripts.delete(script));
  scripts.set(script, loaded);
  if (scripts.size > KEPT) scripts.delete(scripts.keys().next().value);
  return loaded;
}

async function open(at) {
  choose(at);
  const index = shown[chosen];
  written(address(index));
  $("title").textContent = `${value("method", index)}, ${value("env", index)}: ${key(index)}, seed ${value("seed", index)}`;
  $("back").disabled = chosen === 0;
  $("next").disabled = chosen === shown.length - 1;
  $("trace").replaceChildren(facts(index));
  if (!$("episode").open) $("episode").showModal();
  $("episode").scrollTop = 0;
  const script = value("script", index);
  if (!script) {
    $("trace").append(element("p", {className: "quiet", textContent:
      "Nothing was recorded of this episode but its row (record=trace, images or video records more)."}));
    return;
  }
  let parts;
  try {
    const episode = (await traces(script))[key(index)];
    parts = episode ? recorded(index, episode)
      : [element("p", {textContent: "The report was made again since this page was opened: load it again."})];
  } catch (error) {
    parts = [element("p", {className: "error", textContent: error.message})];
  }
  if (shown[chosen] === index) $("trace").append(...parts);
}

function list(pairs) {
  const made = element("dl");
  for (const [name, text] of pairs) if (text !== "" && text != null) {
    made.append(element("dt", {textContent: name}), element("dd", {textContent: text}));
  }
  return made;
}

function facts(index) {
  const status = value("status", index);
  const made = list([
    ["instruction", value("instruction", index)], ["status", SIGNS[status] + status], ["kind", value("kind", index)],
    ["reason", value("reason", index)], ["variant", value("variant", index)], ["trials", value("trials", index)],
    ["steps", value("steps", index)], ["calls", `${value("calls", index)}, ${value("tokens", index)} tokens, `
      + (Number.isNaN(value("cost", index)) ? "cost unknown" : `$${number(value("cost", index))}`)],
    ["seconds", number(value("seconds", index))], ["cell", value("cell", index)],
  ]);
  made.querySelectorAll("dd")[value("instruction", index) ? 1 : 0].className = status;
  return made;
}

function recorded(index, {row, images, events, problem}) {
  const link = path => [value("cell", index), ...path.split("/")].map(encodeURIComponent).join("/");
  const parts = [];
  if (row.video) parts.push(element("video", {src: link(row.video), controls: true, preload: "metadata"}));
  if (images.length) parts.push(element("div", {className: "pictures"}, ...images.map(path => {
    const name = path.match(/t(\d+)-(start|end)/);
    const text = `trial ${+name[1] + 1}, ${name[2]}`;
    return element("figure", {}, element("a", {href: link(path)}, element("img", {src: link(path), alt: text,
      loading: "lazy"})), element("figcaption", {textContent: text}));
  })));
  const links = element("p");
  for (const path of [row.trace, row.video]) if (path) links.append(element("a", {href: link(path), textContent: path}), " ");
  parts.push(links, folded("row", json(row)));
  if (problem) parts.push(element("p", {className: "error", textContent: problem}));
  const trials = trialsOf(events);
  parts.push(...trials.map(trial => timeline(trial, trials.length === 1 ? row.steps : undefined)));
  if (events.length) parts.push(kinds(events), ...events.map(eventPart));
  return parts;
}

function kinds(events) {
  const made = element("fieldset");
  made.setAttribute("aria-label", "Kinds of events shown");
  for (const kind of [...new Set(events.map(({event}) => event))]) {
    const box = element("input", {type: "checkbox", checked: true, onchange: () => {
      for (const part of $("trace").querySelectorAll("[data-kind]")) if (part.dataset.kind === kind) part.hidden = !box.checked;
    }});
    made.append(element("label", {}, box, `${kind} (${events.filter(({event}) => event === kind).length})`));
  }
  return made;
}

function eventPart(event) {
  const draw = DRAWN[event.event] ?? other;
  const body = element("div", {}, ...[draw(event)].flat());
  const made = element("div", {className: "event"},
    element("time", {textContent: `${event.t?.toFixed?.(2) ?? ""} s`}), body);
  made.dataset.kind = event.event;
  return made;
}

function line(kind, text = "", classes = "") {
  return element("div", {}, element("span", {className: `kind ${classes}`, textContent: kind}), " " + text);
}

function block(text) {
  return element("pre", {textContent: text});
}

function json(data) {
  return block(JSON.stringify(data, null, 1));
}

function folded(title, ...content) {
  return element("details", {}, element("summary", {textContent: title}), ...content);
}

function grid(heads, lines) {
  const cells = (tag, texts) => element("tr", {}, ...texts.map(text => element(tag, {textContent: text, className: "text"})));
  return element("div", {className: "wide"}, element("table", {}, element("thead", {}, cells("th", heads)),
    element("tbody", {}, ...lines.map(texts => cells("td", texts)))));
}

function said(data) {
  return typeof data === "string" ? data : JSON.stringify(data);
}

function other({event, t, ...rest}) {
  return Object.keys(rest).length ? [line(event), json(rest)] : [line(event)];
}

const DRAWN = {
  episode: ({key, seed}) => [line("episode", `${key}, seed ${seed}`)],
  trial: ({index, state_hash}) => [element("h3", {textContent: `Trial ${index + 1}`}), line("initial state", state_hash)],
  chat: event => [
    line("chat", `${event.role}, ${event.model}, ${event.tokens?.join(" + ")} tokens, ${event.finish_reason}`
      + `, ${event.seconds} s${event.cached ? ", from the cache" : ""}`),
    folded(`prompt: ${event.messages.length} messages`, ...event.messages.flatMap(message => [
      line(message.role, message.images ? `pictures ${message.images.join(", ")}` : ""), block(message.text)])),
    block(event.reply),
    folded("settings", json({sampling: event.sampling, cost_usd: event.cost_usd, details: event.details, key: event.key})),
  ],
  code: ({program, query, origin, code}) => [
    element("details", {open: origin !== "asked"}, // what was asked for stands above, as the reply
      element("summary", {textContent: `code: ${program}, ${origin}: ${query}`}), block(code))],
  call: ({by, name, arguments: given}) => [line("call", `${by}: ${name}(${Array.isArray(given) ? given.map(said).join(", ") : said(given)})`)],
  motion: ({movable, maps = [], missed = [], waypoints = [], motions, ...rest}) => [
    line("motion", `${movable}${motions == null ? "" : `, ${motions} motions`}${maps.length ? ", " + maps.map(said).join(" ") : ""}`),
    ...(missed.length ? [line("missed", missed.map(said).join("; "), "failure")] : []),
    ...(waypoints.length ? [folded(`${waypoints.length} waypoints, metres`, block(waypoints.map(point => said(point)).join("\n")))] : []),
    ...(rest.success ? [line("success", "the goal was met", "success")] : [])],
  retrieve: ({rank, records, hits}) => {
    const heads = [...new Set(hits.flatMap(Object.keys))];
    return [line("retrieve", `rank ${rank + 1} of ${records} records`),
      grid(heads, hits.map(hit => heads.map(head => said(hit[head] ?? ""))))];
  },
  trial_end: ({index, success, failure, reason}) => [line(`trial ${index + 1} ended:`,
    success ? "success" : `${failure ?? ""} ${reason ?? ""}`, success ? "success" : "failure")],
  episode_end: ({status, kind, reason}) => [line(`episode: ${status}`, `${kind ?? ""} ${reason ?? ""}`, status)],
  error: ({traceback, ...rest}) => traceback ? [line("error", "", "error"), block(traceback)] : other(rest),
};

// ---- the start

function build() {
  for (const name of FILTERS) {
    const {values, data} = table.columns[name];
    const counts = new Uint32Array(values.length);
    for (const code of data) counts[code]++;
    $(name).append(element("option", {value: "", textContent: "all"}), ...values.map((text, code) =>
      element("option", {value: "=" + text, textContent: `${text || "(none)"} (${counts[code]})`})));
    $(name).parentElement.hidden = values.length < 2 && name === "variant";
    $(name).onchange = () => { update(); written(); };
  }
  for (const [name, heading, classes] of LIST) {
    const button = element("button", {type: "button", textContent: heading, title: `sort by ${heading}`, onclick: () => {
      sorting = sorting?.name !== name ? {name, down: false} : sorting.down ? null : {name, down: true};
      for (const each of $("head").children) each.firstChild.textContent = each.dataset.heading;
      if (sorting) button.textContent = heading + (sorting.down ? " ↓" : " ↑");
      update();
    }});
    const place = element("span", {className: classes}, button);
    place.dataset.heading = heading;
    $("head").append(place);
  }
  let waiting;
  $("search").oninput = () => { clearTimeout(waiting); waiting = setTimeout(() => { update(); written(); }, 150); };
  $("filters").onsubmit = event => event.preventDefault();
  $("filters").onreset = () => setTimeout(() => { update(); written(); });
  $("list").onscroll = draw;
  $("list").onclick = event => {
    const row = event.target.closest(".row");
    if (row) open(+row.dataset.at);
  };
  $("list").onkeydown = event => {
    if (event.key in STEPS) choose(chosen + STEPS[event.key]);
    else if (event.key === "Enter" && chosen >= 0) open(chosen);
    else return;
    event.preventDefault();
  };
  $("back").onclick = () => open(chosen - 1);
  $("next").onclick = () => open(chosen + 1);
  $("close").onclick = () => $("episode").close();
  $("episode").onclose = () => { written(); $("trace").replaceChildren(); $("list").focus(); };
  window.onhashchange = follow;
  window.onresize = draw;
}

readTable().then(read => {
  table = read;
  shown = new Uint32Array();
  build();
  follow();
  document.body.dataset.ready = "";
}).catch(error => { $("count").textContent = `The episodes cannot be shown: ${error.message}`; });
