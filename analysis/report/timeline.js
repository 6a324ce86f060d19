// What a robot with a memory did over control steps, from the events of its trace: who spoke, what was executed and done,
// who was asked, and what the memory held. A moment is chosen by the slider or a click; below it stands what was so then.
"use strict";

const LANE = 22, CURVE = 56, LEFT = 76, RIGHT = 18, NEAR = 7; // pixels; left and right as in the style
const OPERATIONS = ["query", "create", "update", "delete", "evicted", "refused"];

// ---- what the events say

function trialsOf(events) {
  const trials = [];
  for (const event of events) {
    if (event.event === "trial" || !trials.length) trials.push([]);
    trials.at(-1).push(event);
  }
  return trials.filter(trial => trial.some(({event, step}) => step != null && (event === "planner" || event === "subtask")));
}

function story(events, steps) {
  const of = name => events.filter(({event}) => event === name);
  const end = Math.max(1, steps ?? 0, ...events.map(({step}) => step ?? 0));
  const said = of("user").length ? of("user") // traces of before have the user's words with the planner's calls alone
    : of("planner").filter(({cause}) => cause === "instruction").map(({step, instruction}) => ({step, text: instruction}));
  const subtasks = of("subtask").map(({step, text}, i, all) => ({step, text, until: all[i + 1]?.step ?? end}));
  const checks = [], calls = [];
  let records = new Map();
  for (const event of events) {
    if (event.event === "sentry") checks.push({...event});
    else if (event.event === "oracle" && checks.length) checks.at(-1).truth = event.done;
    else if (event.event === "adopted" && calls.length) calls.at(-1).until = event.step;
    else if (event.event === "planner") {
      const call = {...event, ...changes(event, records)};
      records = call.records;
      calls.push(call);
    }
  }
  return {end, said, subtasks, done: of("subtask_done"), refusals: of("refusal"), checks, calls,
    remembers: calls.some(({memory}) => memory), timed: of("adopted").length > 0};
}

// What a call of the planner did to the memory, one operation after the other, with the records as each left or took them.
function changes({step, queries = [], operations = [], memory}, before) {
  const records = new Map(before);
  const made = [];
  const note = (kind, id, record, text) => made.push({kind, id, text: text ?? `${id}: ${worded(record)}`});
  for (const {refused, found, ...rest} of queries) {
    if (refused) note("refused", null, null, `${wanted(rest)}: ${refused}`);
    for (const {term, how, ids} of found ?? []) {
      made.push({kind: "query", ids, text: `“${term}”: ${ids.length ? `${ids.join(", ")} (by ${how})` : "nothing"}`});
    }
  }
  for (const operation of operations) {
    const {type, id, tags, text, images, evicted = [], refused} = operation;
    const old = records.get(id);
    if (refused) {
      note("refused", null, null, `${wanted(operation)}: ${refused}`);
      continue;
    }
    for (const gone of evicted) {
      note("evicted", gone, records.get(gone));
      records.delete(gone);
    }
    if (type === "delete") {
      note("delete", id, old);
      records.delete(id);
    } else if (type === "create" || type === "update") {
      const record = {id, kind: images ? "image" : old?.kind ?? "text", tags: tags ?? old?.tags ?? [], text: text ?? old?.text ?? "", step};
      note(type, id, record, type === "update" && old ? `${id}: ${worded(record)}\nbefore: ${worded(old)}` : undefined);
      records.set(id, record);
    }
  }
  // The memory itself is in the trace: what it holds counts, and not what was pieced together.
  return {made, records: memory ? new Map(memory.map(record => [record.id, record])) : records};
}

function worded(record) {
  if (!record) return "a record that is not in this trace";
  return `${record.text} [${record.tags.join(", ")}]${record.kind === "image" ? ", with a picture" : ""}`;
}

function wanted({type, id, tags, text, terms}) {
  return [type, id, terms?.join(", "), text, tags && `[${tags.join(", ")}]`].filter(part => part != null && part !== "").join(" ");
}

function judged({judgement, truth}) {
  return truth == null ? "odd" : (judgement === "done") === truth ? "success" : "failure";
}

function verdictWords({subtask, judgement, confidence, truth}) {
  const oracle = truth == null ? "the oracle does not say" : `the oracle: ${truth ? "done" : "not done"}`;
  return `${judgement}${confidence == null ? "" : ` (confidence ${confidence})`}, ${oracle}; ${subtask}`;
}

function callWords({cause, seconds, requests, tokens, step, until}) {
  const wait = until > step ? `, in effect at step ${until}` : "";
  return `asked because of: ${cause}; ${number(+seconds)} s, requests: ${requests}, tokens written: ${tokens}${wait}`;
}

// ---- the drawing

const SVG = element("div", {innerHTML: "<svg></svg>"}).firstChild.namespaceURI; // no address is written in the page

function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, text] of Object.entries(attributes)) made.setAttribute(name, text);
  made.append(...children);
  return made;
}

// Marks of a lane: step, words for whoever points at it, class, and a text in it.
function lanesOf(told) {
  const {said, done, checks, calls} = told;
  const lanes = [
    ["user", said.map(({step, text}) => ({step, words: `the user: ${text}`, look: "said"}))],
    ["subtask", [], told.subtasks.map(({step, until, text}) => ({step, until, words: `executed: ${text}`, text}))],
    ["refusal", told.refusals.map(({step, message}) => ({step, words: `the executor refuses: ${message}`, look: "failure"}))],
    ["done", done.map(({step, text}) => ({step, words: `done by the oracle's word: ${text}`, look: "success"}))],
    ["planner", [], calls.map(call => ({step: call.step, until: call.until ?? (told.timed ? told.end : call.step),
      words: `${callWords(call)}\n${call.subtask}`, look: `planner ${told.timed && call.until == null ? "pending" : ""}`}))],
    ["Sentry", checks.map(check => ({step: check.step, words: verdictWords(check),
      look: `${judged(check)} ${check.judgement === "done" ? "" : "hollow"}`}))],
  ];
  for (const kind of OPERATIONS) {
    const marks = [];
    for (const {step, made} of calls) {
      const these = made.filter(each => each.kind === kind);
      if (these.length) marks.push({step, look: kind, count: these.length,
        words: `${kind}\n${these.map(({text}) => text).join("\n")}`});
    }
    lanes.push([kind === "refused" ? "op refused" : kind, marks]);
  }
  return lanes.filter(([, marks, bars]) => marks.length || bars?.length);
}

function drawn(told, width) {
  const lanes = lanesOf(told);
  const bottom = LANE * (lanes.length + 1), height = bottom + (told.remembers ? CURVE : 0);
  const x = step => LEFT + step / told.end * (width - LEFT - RIGHT);
  const picture = svg("svg", {width, height, class: "timeline", role: "img",
    "aria-label": `Timeline of ${told.end} control steps; the slider below chooses a moment`});
  const unit = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000].find(each => told.end / each * 45 < width - LEFT) ?? 10000;
  for (let step = 0; step <= told.end; step += unit) picture.append(
    svg("line", {class: "scale", x1: x(step), x2: x(step), y1: LANE - 5, y2: height}),
    svg("text", {x: x(step), y: LANE - 8, "text-anchor": "middle"}, String(step)));
  lanes.forEach(([name, marks, bars = []], i) => {
    const top = LANE * (i + 1), middle = top + LANE / 2;
    picture.append(svg("line", {class: "scale", x1: 0, x2: width, y1: top, y2: top}),
      svg("text", {x: LEFT - 16, y: middle + 4, "text-anchor": "end"}, name));
    bars.forEach(({step, until, words, look = "", text = ""}, j) => {
      const wide = Math.max(3, x(until) - x(step));
      picture.append(svg("g", {class: `bar ${look} ${j % 2 ? "odd-one" : ""}`, "data-words": words, "data-step": step},
        svg("rect", {x: x(step), y: top + 3, width: wide, height: LANE - 6}),
        svg("svg", {x: x(step), y: top, width: wide, height: LANE}, svg("text", {x: 4, y: LANE / 2 + 4}, text))));
    });
    for (const {step, words, look, count = 1} of marks) {
      const mark = svg("g", {class: `mark ${look}`, "data-words": words, "data-step": step},
        svg("circle", {cx: x(step), cy: middle, r: count > 1 ? 8 : 5}));
      if (count > 1) mark.append(svg("text", {x: x(step), y: middle + 4, "text-anchor": "middle"}, String(count)));
      picture.append(mark);
    }
  });
  if (told.remembers) picture.append(...sizeLine(told, x, bottom));
  picture.append(svg("line", {class: "moment", x1: 0, x2: 0, y1: LANE - 5, y2: height}));
  return picture;
}

function sizeLine({calls, end}, x, top) {
  const sizes = calls.filter(({memory}) => memory).map(({step, records}) => [step, records.size]);
  const most = Math.max(1, ...sizes.map(([, size]) => size));
  const y = size => top + CURVE - 6 - size / most * (CURVE - 14);
  const path = sizes.map(([step, size], i) => `${i ? "H" : "M"}${x(step)} ${i ? `V${y(size)}` : y(size)}`).join("") + `H${x(end)}`;
  return [svg("text", {x: LEFT - 16, y: top + 14, "text-anchor": "end"}, "records"),
    svg("text", {x: LEFT - 16, y: y(0) + 2, "text-anchor": "end"}, `0–${most}`),
    svg("path", {class: "size", d: path})];
}

// ---- a moment

function momentParts(told, step) {
  const last = list => list.filter(each => each.step <= step).at(-1);
  const call = last(told.calls), check = last(told.checks), subtask = last(told.subtasks), said = last(told.said);
  const parts = [list([
    ["the user", said && `${said.text} (step ${said.step})`],
    ["executed", subtask && `${subtask.text} (since step ${subtask.step})`],
    ["done so far", told.done.filter(each => each.step <= step).map(({text}) => text).join("; ")],
    ["planner", call && `${callWords(call)} (step ${call.step})`],
    ["Sentry", check && `${verdictWords(check)} (step ${check.step})`],
  ])];
  if (!told.remembers) return parts;
  if (!call) return [...parts, element("p", {className: "quiet", textContent: "The planner has not been asked yet."})];
  const queries = call.made.filter(({kind}) => kind === "query"), others = call.made.filter(({kind}) => kind !== "query");
  const shown = new Set(queries.flatMap(({ids}) => ids));
  const records = [...call.records.values()];
  parts.push(element("p", {textContent: `The memory holds ${records.length} record${records.length === 1 ? "" : "s"}:`}));
  if (records.length) {
    const made = grid(["id", "tags", "text", "picture", "written at", "in this call"], records.map(({id, kind, tags, text, step: at}) => [
      id, tags.join(", "), text, kind === "image" ? "yes" : "", `step ${at}`,
      [shown.has(id) && "read", at === call.step && "written"].filter(Boolean).join(", ")]));
    made.className += " records";
    [...made.querySelectorAll("tbody tr")].forEach((row, i) => row.classList.toggle("new", records[i].step === call.step));
    parts.push(made);
  }
  const bullets = made => element("ul", {}, ...made.map(({kind, text}) => element("li", {}, line(kind, text, kind))));
  if (others.length) parts.push(element("p", {textContent: `What the call at step ${call.step} did to it:`}), bullets(others));
  if (queries.length) parts.push(folded(`what the call at step ${call.step} asked it: ${queries.length}`, bullets(queries)));
  return parts;
}

function timeline(events, steps) {
  const told = story(events, steps);
  const space = element("div", {className: "space"});
  const tip = element("div", {className: "tip", hidden: true});
  const slider = element("input", {type: "range", min: 0, max: told.end, value: 0});
  slider.setAttribute("aria-label", "Control step");
  const heading = element("output"), panel = element("div", {className: "panel"});
  let width = 0;
  const scale = () => (width - LEFT - RIGHT) / told.end;
  const choose = step => {
    slider.value = step;
    heading.textContent = `Control step ${step} of ${told.end}`;
    panel.replaceChildren(...momentParts(told, step));
    const at = LEFT + step * scale();
    for (const name of ["x1", "x2"]) space.querySelector(".moment")?.setAttribute(name, at);
  };
  const redraw = () => {
    if (space.clientWidth === width || !space.clientWidth) return;
    width = space.clientWidth;
    space.querySelector("svg.timeline")?.remove();
    space.prepend(drawn(told, width));
    choose(+slider.value);
  };
  const moments = [...told.calls, ...told.checks, ...told.said, ...told.subtasks, ...told.done].map(({step}) => step);
  space.onclick = event => {
    const mark = event.target.closest("[data-step]");
    const step = Math.round((event.clientX - space.getBoundingClientRect().left - LEFT) / scale());
    const near = moments.reduce((best, each) => Math.abs(each - step) < Math.abs(best - step) ? each : best, Infinity);
    choose(mark?.classList.contains("mark") ? +mark.dataset.step
      : Math.abs(near - step) * scale() <= NEAR ? near : Math.max(0, Math.min(told.end, step)));
  };
  space.onpointerdown = space.onpointermove = event => {
    const words = event.target.closest("[data-words]")?.dataset.words;
    tip.hidden = !words;
    if (!words) return;
    const place = space.getBoundingClientRect();
    tip.textContent = words;
    tip.style.left = `${Math.max(0, Math.min(event.clientX - place.left + 12, place.width - tip.offsetWidth))}px`;
    tip.style.top = `${event.clientY - place.top + 16}px`;
  };
  space.onpointerleave = event => { tip.hidden = event.pointerType === "mouse"; }; // a finger leaves when it is lifted
  slider.oninput = () => choose(+slider.value);
  slider.onkeydown = event => { // arrows go on by one step; with Shift to the next thing that happened
    const sign = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    if (!sign || !event.shiftKey) return;
    event.preventDefault();
    const further = moments.filter(step => sign * (step - slider.value) > 0);
    if (further.length) choose(sign > 0 ? Math.min(...further) : Math.max(...further));
  };
  space.append(tip);
  new ResizeObserver(redraw).observe(space);
  choose(told.end);
  return element("section", {className: "story"}, element("h3", {textContent: "Timeline"}), space, slider,
    element("p", {className: "quiet", textContent: "A click or the slider chooses a moment; Shift with an arrow key goes to "
      + "the next thing that happened. Sentry: filled is done, hollow not done; green where the oracle agrees."}),
    element("h4", {}, heading), panel);
}

// ---- these events in the list

Object.assign(DRAWN, {
  user: ({step, text}) => [line("user", `step ${step}: ${text}`)],
  subtask: ({step, text}) => [line("subtask", `step ${step}: ${text}`)],
  subtask_done: ({step, text}) => [line("done", `step ${step}, by the oracle's word: ${text}`, "success")],
  refusal: ({step, reason, message}) => [line("refusal", `step ${step}, ${reason}: ${message}`, "failure")],
  sentry: ({step, ...rest}) => [line("sentry", `step ${step}: ${rest.judgement}; ${rest.subtask}`)],
  oracle: ({step, done, subtask}) => [line("oracle", `step ${step}: ${done == null ? "does not say" : done ? "done" : "not done"}; ${subtask}`)],
  adopted: ({step}) => [line("adopted", `step ${step}: the planner's answer takes effect`)],
  planner: event => [
    line("planner", `step ${event.step}, ${callWords(event)}`), block(event.plan ?? event.subtask),
    folded("all of it", json(event))],
});
