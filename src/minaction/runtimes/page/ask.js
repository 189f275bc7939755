// Two states to set by sliders, the distances between them, and a map over two of their numbers.

const CELLS = 48; // of the map, in each direction
const ROWS_AT_ONCE = 4; // of the map, before the page may react again

const model = new Model(data.model);
const get = (id) => document.getElementById(id);
const near = [...VIRIDIS].reverse();
const states = { from: data.recorded[0].slice(), to: data.recorded[data.recorded.length >> 1].slice() };
const written = (distance) => `${distance.toFixed(distance < 100 ? 2 : 0)} ${data.unit}`;
let drawing = 0; // the number of the latest map; earlier ones stop

/** A slider and a field for every number of a state. */
function makeFields(side) {
  const step = (column) => (data.whole ? 1 : (column.high - column.low) / 1000);
  data.columns.forEach((column, k) => {
    const range = element("input", { type: "range", min: column.low, max: column.high, step: step(column), tabindex: -1,
      "aria-hidden": "true" });
    const field = element("input", { type: "number", step: data.whole ? 1 : "any", name: column.name });
    range.addEventListener("input", () => change(side, k, range.valueAsNumber));
    field.addEventListener("input", () => { if (Number.isFinite(field.valueAsNumber)) change(side, k, field.valueAsNumber, field); });
    get(side).append(element("label", {}, element("span", { title: column.name }, column.name), range, field));
  });
}

function change(side, k, value, source = null) {
  states[side][k] = value;
  show(side, source);
  answer();
  drawMap();
}

/** The numbers of a state in its sliders and fields, apart from the field that is being typed in. */
function show(side, source = null) {
  get(side).querySelectorAll("label").forEach((label, k) => {
    const [range, field] = label.querySelectorAll("input");
    range.value = states[side][k];
    if (field !== source) field.value = Number(states[side][k].toPrecision(6));
  });
}

function answer() {
  const [there, back] = model.distance([states.from, states.to], [states.to, states.from]);
  get("there").value = written(there);
  get("back").value = written(back);
}

const isGoal = () => document.querySelector("input[name=direction]:checked").value === "to";
const axes = () => [Number(get("across").value), Number(get("up").value)];

/** The number of a column at `share` (0 to 1) of its range, and the other way round. */
const at = (k, share) => {
  const value = data.columns[k].low + share * (data.columns[k].high - data.columns[k].low);
  return data.whole ? Math.round(value) : value;
};
const share = (k, value) => (value - data.columns[k].low) / (data.columns[k].high - data.columns[k].low);

/** A few rows at a time, so that sliders stay quick; colours follow the longest distance on the finished map. */
async function drawMap() {
  if (!get("map")) return;
  const turn = drawing += 1;
  const [across, up] = axes(), goal = isGoal(), fixed = goal ? states.to : states.from;
  const chosen = model.embed([fixed]), found = new Float32Array(CELLS * CELLS);
  get("map").setAttribute("aria-busy", "true");
  for (let row = 0; row < CELLS; row += ROWS_AT_ONCE) {
    const cells = [];
    for (let k = row * CELLS; k < (row + ROWS_AT_ONCE) * CELLS; k += 1) {
      const state = fixed.slice();
      state[across] = at(across, (k % CELLS + 0.5) / CELLS);
      state[up] = at(up, 1 - (Math.floor(k / CELLS) + 0.5) / CELLS);
      cells.push(state);
    }
    const embedded = model.embed(cells);
    found.set(goal ? model.measure(embedded, chosen) : model.measure(chosen, embedded), row * CELLS);
    await new Promise((resume) => { setTimeout(resume); });
    if (turn !== drawing) return; // something has changed meanwhile
  }
  colour(found, across, up, fixed);
  get("map").setAttribute("aria-busy", "false");
}

function colour(found, across, up, fixed) {
  const canvas = get("map"), context = canvas.getContext("2d"), size = canvas.width / CELLS;
  const longest = found.reduce((most, value) => Math.max(most, value), 1e-9);
  found.forEach((value, k) => {
    context.fillStyle = rgb(between(near, value / longest));
    context.fillRect((k % CELLS) * size, Math.floor(k / CELLS) * size, size, size);
  });
  const dot = (state, radius, fill, line) => {
    context.beginPath();
    context.arc(share(across, state[across]) * canvas.width, (1 - share(up, state[up])) * canvas.height, radius, 0, 2 * Math.PI);
    [context.fillStyle, context.strokeStyle, context.lineWidth] = [fill, line, 2];
    context.fill();
    context.stroke();
  };
  if (data.columns.length === 2) data.recorded.forEach((state) => dot(state, 1, "#fff6", "#0000"));
  dot(fixed, 7, "#fff", "#000");
  const stops = near.map((hex, k) => element("stop", { offset: k / (near.length - 1), "stop-color": hex }));
  const bar = element("svg", { "aria-hidden": "true" },
    element("defs", {}, element("linearGradient", { id: "colours" }, ...stops)),
    element("rect", { width: "100%", height: "100%", fill: "url(#colours)" }));
  get("scale").replaceChildren("0", bar, written(longest));
}

function start() {
  for (const side of ["from", "to"]) {
    makeFields(side);
    show(side);
  }
  answer();
  if (!get("map")) return;
  const options = data.columns.map(({ name }, value) => ({ value, text: name }));
  offer(get("across"), options);
  offer(get("up"), options, "1");
  for (const control of [get("across"), get("up"), ...document.querySelectorAll("input[name=direction]")]) {
    control.addEventListener("change", drawMap);
  }
  get("map").addEventListener("click", (event) => {
    const { left, top, width: wide, height } = get("map").getBoundingClientRect();
    const [across, up] = axes(), side = isGoal() ? "to" : "from";
    states[side][across] = at(across, (event.clientX - left) / wide);
    change(side, up, at(up, 1 - (event.clientY - top) / height));
  });
  drawMap();
}

start();
