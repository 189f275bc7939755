// The explorer: three maps of a board (learned, true, difference), with one state chosen and one pointed at.

const decoded = new Map();

/** A field as distances, row by row from each state; Infinity is unreachable, NaN is unknown. */
async function decodeField(index) {
  if (!decoded.has(index)) {
    const [quantum, text] = data.explorer.fields[index];
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    const planes = new Uint8Array(await new Response(stream).arrayBuffer());
    const count = planes.length / 2;
    const values = new Float64Array(count);
    for (let k = 0, code = 0; k < count; k += 1) {
      code = (code + planes[k] + 256 * planes[count + k]) & 65535;
      values[k] = code === 65535 ? Infinity : code === 65534 ? NaN : code * quantum;
    }
    decoded.set(index, { values, decimals: Math.max(0, -Math.round(Math.log10(quantum))) });
  }
  return decoded.get(index);
}

/** A distance as text. */
function written(value, decimals) {
  if (!Number.isFinite(value)) return value === Infinity ? "∞" : "?";
  const text = Math.abs(value).toFixed(decimals);
  return value < 0 && Number(text) ? `−${text}` : text;
}

/** The outline of a region, its bounds, and its centre. */
function regionShape(numbers) {
  const rectangles = [];
  for (let k = 0; k < numbers.length; k += 4) rectangles.push(numbers.slice(k, k + 4));
  const top = Math.min(...rectangles.map(([row]) => row)), left = Math.min(...rectangles.map(([, column]) => column));
  const height = Math.max(...rectangles.map(([row, , h]) => row + h)) - top;
  const width = Math.max(...rectangles.map(([, column, , w]) => column + w)) - left;
  const path = rectangles.map(([row, column, h, w]) => `M${column} ${row}h${w}v${h}h${-w}z`).join("");
  return { path, top, left, bottom: top + height, right: left + width, x: left + width / 2, y: top + height / 2,
    size: Math.max(width, height) };
}

/** One map of a board; `paint` colours it, `mark` shows the chosen and the pointed state. */
class BoardMap {
  constructor(host, title, board, shapes, unit) {
    const edge = 0.35 * unit; // enough of the wall to see that there is one
    const [top, left, bottom, right] = [Math.min(...shapes.map((one) => one.top)), Math.min(...shapes.map((one) => one.left)),
      Math.max(...shapes.map((one) => one.bottom)), Math.max(...shapes.map((one) => one.right))];
    const frame = { x: left - edge, y: top - edge, width: right - left + 2 * edge, height: bottom - top + 2 * edge };
    this.name = host.id;
    this.unit = unit;
    this.shapes = shapes;
    this.states = shapes.map(({ path }, k) => element("path", { class: "state", d: path, "data-state": k }));
    this.numbers = board.states.length <= 80 && unit === 1
      ? shapes.map(({ x, y }) => element("text", { class: "number", x, y, "font-size": 0.34 })) : [];
    this.marks = element("g");
    this.value = element("output");
    this.title = element("b", {}, title);
    this.scale = element("div", { class: "scale" });
    const svg = element("svg", { class: "map", viewBox: Object.values(frame).join(" "), "aria-hidden": "true" },
      element("defs", {}, this.pattern("wall", 0.3), this.pattern("blank", 0.22)),
      element("rect", { ...frame, fill: `url(#wall-${this.name})` }),
      ...this.states, ...this.numbers, this.marks);
    host.replaceChildren(element("figcaption", {}, this.title, this.value), svg, this.scale);
  }

  /** Stripes for walls, and for states that are unreachable or unknown. */
  pattern(kind, spacing) {
    const size = spacing * this.unit;
    return element("pattern", { id: `${kind}-${this.name}`, width: size, height: size, patternUnits: "userSpaceOnUse",
      patternTransform: "rotate(45)" }, element("rect", { class: kind, width: size, height: size }),
    element("line", { class: `${kind}-line`, x1: 0, x2: 0, y1: 0, y2: size, "stroke-width": size / 2.5 }));
  }

  /** Colour every state by its value, `share` giving the place of a value on the colours of `stops`. */
  paint(values, share, stops, decimals) {
    this.states.forEach((state, k) => {
      const colour = Number.isFinite(values[k]) ? between(stops, share(values[k])) : null;
      state.setAttribute("fill", colour ? rgb(colour) : `url(#blank-${this.name})`);
      const number = this.numbers[k];
      if (!number) return;
      number.textContent = written(values[k], Math.min(decimals, 1));
      number.setAttribute("fill", !colour ? "currentColor" : isDark(colour) ? "#fff" : "#111");
    });
  }

  legend(stops, low, high) {
    const gradient = element("linearGradient", { id: `gradient-${this.name}` },
      ...stops.map((colour, k) => element("stop", { offset: k / (stops.length - 1), "stop-color": colour })));
    const bar = element("svg", { "aria-hidden": "true" }, element("defs", {}, gradient),
      element("rect", { width: "100%", height: "100%", fill: `url(#gradient-${this.name})` }));
    this.scale.replaceChildren(low, bar, high);
  }

  /** A star where the goal is or a disc where the start is, and a ring around the pointed state. */
  mark(chosen, pointed, isGoal) {
    if (chosen === null) return this.marks.replaceChildren(); // a state that was typed has no place on the map
    const { x, y } = this.shapes[chosen];
    const ring = this.shapes[pointed];
    const thin = 0.05 * this.unit;
    const corners = Array.from({ length: 10 }, (_, k) => {
      const radius = (k % 2 ? 0.16 : 0.38) * this.unit;
      return `${x + radius * Math.sin(k * Math.PI / 5)} ${y - radius * Math.cos(k * Math.PI / 5)}`;
    });
    const mark = isGoal ? element("path", { d: `M${corners.join("L")}Z` }) : element("circle", { cx: x, cy: y, r: 0.22 * this.unit });
    mark.setAttribute("class", "mark");
    mark.setAttribute("stroke-width", 2 * thin);
    const rings = pointed === chosen ? [] : [["pointed", 1.9], ["pointed inner", 0.9]];
    this.marks.replaceChildren(mark, ...rings.map(([name, width]) => element("circle",
      { class: name, cx: ring.x, cy: ring.y, r: 0.42 * this.unit, "stroke-width": width * thin })));
    this.numbers.forEach((number, k) => number.classList.toggle("covered", k === chosen));
  }

  say(value, unit) {
    this.value.replaceChildren(value, element("small", {}, unit ? ` ${unit}` : ""));
  }
}

/** What does not depend on the chosen state: the colour scales, and the learned distance per cell where the truth is in cells. */
function scales(learned, truth, unit) {
  let longestLearned = 0, longestTrue = 0, ratio = 0, pairs = 0;
  truth.forEach((true_, k) => {
    if (!Number.isFinite(true_) || !Number.isFinite(learned[k])) return;
    longestTrue = Math.max(longestTrue, true_);
    longestLearned = Math.max(longestLearned, learned[k]);
    if (true_ > 0) [ratio, pairs] = [ratio + learned[k] / true_, pairs + 1];
  });
  const factor = unit !== "cells" || !pairs ? 1 : ratio / pairs;
  if (unit !== "cells") longestLearned = longestTrue = Math.max(longestLearned, longestTrue);
  const errors = [...truth].map((true_, k) => Math.abs(learned[k] - factor * true_)).filter(Number.isFinite).sort((a, b) => a - b);
  const error = errors.length ? errors[Math.floor(0.98 * (errors.length - 1))] : 0;
  return { factor, longestLearned: longestLearned || 1, longestTrue: longestTrue || 1, error: error || 1 };
}

const networks = new Map();

/** The model with the given weights, and room for the embeddings of its board's states. */
function networkOf(index) {
  if (!networks.has(index)) networks.set(index, { model: new Model(data.explorer.weights[index]), embedded: null });
  return networks.get(index);
}

function startExplorer() {
  const boards = data.explorer.boards;
  const get = (id) => document.getElementById(id);
  const maps = get("maps");
  if (!maps || !boards.length) return;
  const control = { board: get("board"), method: get("method"), seed: get("seed"), truth: get("truth") };
  let board, shapes, drawn, learned, truth, unit, own, scale, chosen, pointed, network;
  let typed = null; // the distances to or from a state that was typed in place of the chosen one
  let touched = false, latest = 0;

  const isGoal = () => document.querySelector("input[name=direction]:checked").value === "to";
  const name = (state) => `(${board.states[state].slice(0, 4).map((number) => Number(number.toPrecision(4))).join(", ")})`;
  const options = (values) => [...new Set(values)].map((value) => ({ value, text: String(value) }));
  /** The distances between the chosen state and all others, in the direction asked for. */
  const field = (values) => shapes.map((_, k) => values[isGoal() ? k * shapes.length + chosen : chosen * shapes.length + k]);

  async function changeBoard() {
    board = boards[Number(control.board.value)];
    shapes = board.regions.map(regionShape);
    const sizes = shapes.map(({ size }) => size).sort((a, b) => a - b);
    const make = (id, title) => new BoardMap(get(id), title, board, shapes, sizes[sizes.length >> 1]);
    drawn = { learned: make("learned", "learned"), true: make("true", "true"), difference: make("difference", "difference") };
    offer(control.method, options(board.models.map(({ method }) => method)));
    [chosen, pointed] = [shapes.length >> 1, null];
    await changeModel();
  }

  async function changeModel() {
    const models = board.models.filter(({ method }) => method === control.method.value);
    offer(control.seed, options(models.map(({ seed }) => seed)));
    const model = models.find(({ seed }) => String(seed) === control.seed.value);
    offer(control.truth, options(Object.keys(model.truths)));
    const turn = latest += 1;
    maps.setAttribute("aria-busy", "true");
    const fields = await Promise.all([model.field, model.truths[control.truth.value]].map(decodeField));
    if (turn !== latest) return; // the selection has changed meanwhile
    [learned, truth] = fields;
    unit = board.units[control.truth.value];
    // Learned distances are in the data's time unit, and so is every truth that is not in cells.
    own = unit !== "cells" ? unit : Object.values(board.units).find((other) => other !== "cells") ?? "steps";
    scale = scales(learned.values, truth.values, unit);
    network = model.weights === undefined ? null : networkOf(model.weights);
    get("ask").hidden = !network;
    draw();
    maps.setAttribute("aria-busy", "false");
  }

  function draw() {
    typed = null;
    paint(field(learned.values), field(truth.values));
    if (network) fillIn();
  }

  function paint(mine, real) {
    // At first the ring is around the most distant state.
    pointed ??= real.reduce((best, value, k) => (Number.isFinite(value) && !(real[best] > value) ? k : best), chosen);
    const difference = mine.map((value, k) => (Number.isFinite(real[k]) ? value - scale.factor * real[k] : real[k]));
    const title = `${isGoal() ? "to the goal" : "from the start"}`;
    drawn.learned.title.textContent = `learned, ${title}`;
    drawn.true.title.textContent = `${control.truth.value === "true" ? "true" : `true, ${control.truth.value}`}`;
    const near = [...VIRIDIS].reverse();
    drawn.learned.paint(mine, (value) => value / scale.longestLearned, near, learned.decimals);
    drawn.true.paint(real, (value) => value / scale.longestTrue, near, truth.decimals);
    drawn.difference.paint(difference, (value) => 0.5 + 0.5 * value / scale.error, DIVERGING, learned.decimals);
    drawn.learned.legend(near, "0", `${written(scale.longestLearned, 0)} ${own}`);
    drawn.true.legend(near, "0", `${written(scale.longestTrue, 0)} ${unit}`);
    drawn.difference.legend(DIVERGING, `−${written(scale.error, 1)}`, `+${written(scale.error, 1)} ${own}`);
    Object.values(drawn).forEach((map) => map.mark(typed ? null : chosen, pointed, isGoal()));
    if (!typed) tell(mine[pointed], real[pointed], difference[pointed]);
  }

  /** Fields to type the two states into that the maps are about. */
  function fillIn() {
    const [from, to] = isGoal() ? [pointed, chosen] : [chosen, pointed];
    for (const [side, state] of [["from", from], ["to", to]]) {
      const fields = board.states[state].map((value, k) => element("input", { type: "number", step: "any", value,
        "aria-label": `${side}, number ${k + 1}` }));
      get(`ask-${side}`).replaceChildren(get(`ask-${side}`).firstElementChild, ...fields);
    }
    answer();
  }

  const numbers = (side) => [...get(`ask-${side}`).querySelectorAll("input")].map(({ valueAsNumber }) => valueAsNumber);

  function answer() {
    const [from, to] = [numbers("from"), numbers("to")];
    const known = [...from, ...to].every(Number.isFinite);
    const [there, back] = known ? network.model.distance([from, to], [to, from]) : [NaN, NaN];
    get("answer").value = known ? `${there.toFixed(3)} ${own} there, ${back.toFixed(3)} ${own} back` : "give every number";
    return known;
  }

  /** The maps of a state that was typed: no truth is known of it. */
  function ask() {
    if (!answer()) return;
    network.embedded ??= network.model.embed(board.states);
    const state = network.model.embed([numbers(isGoal() ? "to" : "from")]);
    typed = [...(isGoal() ? network.model.measure(network.embedded, state) : network.model.measure(state, network.embedded))];
    paint(typed, typed.map(() => NaN));
    Object.values(drawn).forEach((map) => map.say("", ""));
    get("readout").replaceChildren(`Learned distances ${isGoal() ? "to" : "from"} the state that you typed.`);
  }

  /** The distances of the pointed state, beside each map and as a sentence. */
  function tell(mine, real, difference) {
    const known = Number.isFinite(real);
    drawn.learned.say(written(mine, learned.decimals), own);
    drawn.true.say(written(real, truth.decimals), known ? unit : "");
    const shown = written(difference, learned.decimals);
    drawn.difference.say(!known ? "–" : shown.startsWith("−") || !Number(shown) ? shown : `+${shown}`, known ? own : "");
    const [from, to] = isGoal() ? [pointed, chosen] : [chosen, pointed];
    const parts = [`From ${name(from)} to ${name(to)}: learned ${written(mine, learned.decimals)} ${own}, `];
    if (known) parts.push(`true ${written(real, truth.decimals)} ${unit}.`);
    if (real === Infinity) parts.push(element("span", { class: "key" }, "unreachable."));
    if (Number.isNaN(real)) parts.push(element("span", { class: "key" }, "true distance unknown: a state does not occur in this data."));
    if (unit === "cells") {
      parts.push(` One cell is ${scale.factor.toFixed(1)} learned ${own} on average; the difference is taken after converting.`);
    }
    get("readout").replaceChildren(...parts);
  }

  /** The nearest state in a direction; steps sideways cost more. */
  function neighbour(state, [right, down]) {
    const cost = ({ x, y }) => {
      const [across, along] = [x - shapes[state].x, y - shapes[state].y];
      const ahead = right * across + down * along;
      return ahead > 0.1 ? ahead + 3 * Math.abs(right ? along : across) : Infinity;
    };
    const costs = shapes.map(cost);
    const least = Math.min(...costs);
    return Number.isFinite(least) ? costs.indexOf(least) : state;
  }

  maps.addEventListener("pointerdown", (event) => { touched = event.pointerType === "touch"; });
  maps.addEventListener("pointerover", (event) => {
    const state = event.target.dataset.state;
    if (state === undefined || event.pointerType === "touch") return;
    pointed = Number(state);
    draw();
  });
  maps.addEventListener("click", (event) => {
    const state = event.target.dataset.state;
    if (state === undefined) return;
    if (touched) pointed = chosen; // a finger cannot point: show the distance between the last two taps
    chosen = Number(state);
    draw();
  });
  maps.addEventListener("keydown", (event) => {
    const direction = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!direction || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    if (event.shiftKey) pointed = neighbour(pointed, direction);
    else chosen = neighbour(chosen, direction);
    draw();
  });
  get("ask").addEventListener("input", ask);
  get("ask").addEventListener("submit", (event) => event.preventDefault());
  control.board.addEventListener("change", changeBoard);
  for (const select of [control.method, control.seed, control.truth]) select.addEventListener("change", changeModel);
  document.querySelectorAll("input[name=direction]").forEach((radio) => radio.addEventListener("change", draw));
  offer(control.board, boards.map(({ task }, k) => ({ value: k, text: task })));
  changeBoard();
}

startExplorer();
