// The page of an own recording: a map of states, the timeline of an episode, and the learning curve.

const get = (id) => document.getElementById(id);
const LETTER = 7; // its width in a chart, in pixels
const tidy = (value) => (Math.abs(value) >= 100 ? value.toFixed(0) : Number(value.toPrecision(3)).toString());

/** A frame with axes; gives places of values and the elements to draw into. */
function frame(width, height, [left, right], [low, high], labels) {
  const edge = { left: 46, right: 12, top: 24, bottom: 34 };
  const span = (a, b) => (b > a ? b - a : 1);
  const x = (value) => edge.left + (value - left) / span(left, right) * (width - edge.left - edge.right);
  const y = (value) => height - edge.bottom - (value - low) / span(low, high) * (height - edge.top - edge.bottom);
  const grid = [
    ...ticks(left, left + span(left, right), 5).map((value) => [
      element("line", { class: "grid", x1: x(value), x2: x(value), y1: edge.top, y2: height - edge.bottom }),
      element("text", { x: x(value), y: height - edge.bottom + 14, "text-anchor": "middle" }, tidy(value))]),
    ...ticks(low, low + span(low, high), 4).map((value) => [
      element("line", { class: "grid", x1: edge.left, x2: width - edge.right, y1: y(value), y2: y(value) }),
      element("text", { x: edge.left - 5, y: y(value) + 4, "text-anchor": "end" }, tidy(value))]),
  ].flat();
  const names = [
    element("text", { x: (edge.left + width - edge.right) / 2, y: height - 4, "text-anchor": "middle" }, labels[0]),
    element("text", { x: 4, y: 10 }, labels[1])];
  const svg = element("svg", { class: "chart", viewBox: `0 0 ${width} ${height}` }, ...grid, ...names);
  return { svg, x, y, edge, back: (place) => left + (place - edge.left) / (width - edge.left - edge.right) * span(left, right) };
}

const range = (values) => values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);

async function startMap() {
  const { columns, values, projection, episodes, frames, scale, axes } = data.map;
  const count = episodes.length;
  const host = get("states");
  const distances = (await decodeField(0)).values;
  const sheet = await loadPictures();
  const all = [...columns.map((text, k) => ({ text, values: values[k] })),
    ...projection.map((values, k) => ({ text: `embedding, direction ${k + 1}`, values }))];
  const choices = all.map(({ text }, value) => ({ value, text }));
  const [first, second] = axes.length === 2 ? axes : [all.length - 2, all.length - 1];
  offer(get("across"), choices, String(first));
  offer(get("up"), choices, String(second));
  let chosen = count >> 1, other = -1, dots = [], places = [];

  const there = (from, to) => distances[from * count + to] * scale;
  const isGoal = () => document.querySelector("input[name=direction]:checked").value === "to";
  const named = (k) => `episode ${episodes[k]}, row ${frames[k]}`;
  const spelt = (k) => columns.slice(0, 8).map((text, c) => `${text} ${tidy(values[c][k])}`).join(", ");

  function lay() {
    const [across, up] = [all[Number(get("across").value)], all[Number(get("up").value)]];
    const width = Math.max(300, Math.min(640, host.clientWidth || 560));
    const drawn = frame(width, 0.75 * width, range(across.values), range(up.values), [across.text, up.text]);
    places = across.values.map((value, k) => [drawn.x(value), drawn.y(up.values[k])]);
    dots = places.map(([cx, cy], k) => element("circle", { class: "state", cx, cy, r: 6, "data-state": k }));
    host.mark = element("circle", { class: "mark", r: 9, fill: "none" });
    host.bar = element("div", { class: "scale" });
    drawn.svg.append(...dots, host.mark);
    host.replaceChildren(drawn.svg, host.bar);
    paint();
  }

  function paint() {
    const far = dots.map((_, k) => (isGoal() ? there(k, chosen) : there(chosen, k)));
    // A state that cannot be reached is very far away; it shall not take the colours from all others.
    const longest = [...far].sort((a, b) => a - b)[Math.floor(0.9 * (count - 1))] || 1;
    const near = [...VIRIDIS].reverse();
    dots.forEach((dot, k) => dot.setAttribute("fill", rgb(between(near, far[k] / longest))));
    const [cx, cy] = places[chosen];
    host.mark.setAttribute("cx", cx);
    host.mark.setAttribute("cy", cy);
    const stops = near.map((colour, k) => element("stop", { offset: k / (near.length - 1), "stop-color": colour }));
    host.bar.replaceChildren("0", element("svg", { "aria-hidden": "true" },
      element("defs", {}, element("linearGradient", { id: "far" }, ...stops)),
      element("rect", { width: "100%", height: "100%", fill: "url(#far)" })), `${tidy(longest)} ${data.unit} or more`);
    get("chosen").textContent = `Chosen: ${named(chosen)}${columns.length ? ` (${spelt(chosen)})` : ""}.`;
    const order = dots.map((_, k) => k).filter((k) => k !== chosen).sort((a, b) => far[a] - far[b]).slice(0, 10);
    document.querySelector("#nearest tbody").replaceChildren(...order.map((k) => {
      const [out, back] = isGoal() ? [there(k, chosen), there(chosen, k)] : [there(chosen, k), there(k, chosen)];
      const shown = sheet ? [picture(sheet, k, named(k))] : [];
      const row = element("tr", { "data-state": k }, element("td", { class: "label", title: spelt(k) }, ...shown, named(k)),
        element("td", {}, `${tidy(out)} ${data.unit}`), element("td", {}, `${tidy(back)} ${data.unit}`));
      return row;
    }));
    if (sheet) showWay(far);
  }

  /** The chosen image, and images on the way between it and the other end: at first the one that is farthest away. */
  function showWay(far) {
    if (other < 0 || other === chosen) other = far.indexOf(Math.max(...far));
    const [from, to] = isGoal() ? [other, chosen] : [chosen, other];
    get("shown").replaceChildren(picture(sheet, chosen, named(chosen)));
    const way = wayBetween(from, to, count, there);
    get("way").replaceChildren(...way.map((k) => element("figure", {}, picture(sheet, k, named(k)),
      element("figcaption", {}, tidy(there(from, k))))));
    get("way-length").textContent = `From ${named(from)} to ${named(to)}: ${tidy(there(from, to))} ${data.unit}. `
      + "Recorded images on the way, and how far each is from the first.";
  }

  function choose(state) {
    chosen = state;
    paint();
  }

  /** The nearest state on the map in a direction; steps sideways cost more. */
  function neighbour([right, down]) {
    const costs = places.map(([x, y]) => {
      const [across, along] = [x - places[chosen][0], y - places[chosen][1]];
      const ahead = right * across + down * along;
      return ahead > 0.1 ? ahead + 3 * Math.abs(right ? along : across) : Infinity;
    });
    const least = Math.min(...costs);
    return Number.isFinite(least) ? costs.indexOf(least) : chosen;
  }

  document.querySelector("#map").addEventListener("click", (event) => {
    const picked = event.target.closest("[data-state]");
    if (picked) choose(Number(picked.dataset.state));
  });
  host.addEventListener("keydown", (event) => {
    const direction = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!direction) return;
    event.preventDefault();
    choose(neighbour(direction));
  });
  if (sheet) {
    get("other").addEventListener("click", () => {
      other = chosen;
      get("other").blur();
      get("way-length").textContent = `The other end is ${named(other)}. Choose another state on the map.`;
    });
  }
  for (const id of ["across", "up"]) get(id).addEventListener("change", lay);
  document.querySelectorAll("input[name=direction]").forEach((radio) => radio.addEventListener("change", paint));
  lay();
  host.setAttribute("aria-busy", "false");
}

function startTimeline() {
  const host = get("along"), select = get("episode");
  const worst = [...data.timelines].sort((a, b) => (a.finished === null) - (b.finished === null) || a.lost - b.lost).reverse();
  const text = ({ episode, lost, finished }) => `${episode}: ${finished === null ? "not finished, " : ""}${tidy(lost)} ${data.unit} lost`;
  offer(select, worst.map((one) => ({ value: one.episode, text: text(one) })));
  let shown, drawn, cursor;

  function draw() {
    shown = data.timelines.find(({ episode }) => String(episode) === select.value);
    const width = Math.max(320, Math.min(900, host.clientWidth || 900));
    drawn = frame(width, 260, [0, shown.clock[shown.clock.length - 1]], [0, range(shown.remaining)[1]],
      [`time (${data.clock})`, `remaining (${data.unit})`]);
    const top = drawn.edge.top, height = 260 - drawn.edge.top - drawn.edge.bottom;
    const shades = shown.stretches.flatMap(([start, stop, lost]) => {
      const wide = drawn.x(stop) - drawn.x(start), cost = `−${tidy(lost)}`;
      const shade = element("rect", { class: "wasted", x: drawn.x(start), y: top, height, width: Math.max(1, wide) });
      if (wide < LETTER * cost.length) return [shade]; // there is no room for the number
      return [shade, element("text", { x: drawn.x((start + stop) / 2), y: top + 12, "text-anchor": "middle" }, cost)];
    });
    const points = shown.clock.map((clock, k) => `${drawn.x(clock)},${drawn.y(shown.remaining[k])}`).join(" ");
    cursor = element("line", { class: "cursor", y1: top, y2: top + height, visibility: "hidden" });
    drawn.svg.append(...shades, coloured(element("polyline", { class: "line", points }), "var(--series-0)"), cursor);
    host.replaceChildren(drawn.svg);
    const end = shown.finished === null ? "It does not get there." : `It is there at row ${shown.finished}.`;
    get("moment").textContent = `Episode ${shown.episode}: ${tidy(shown.lost)} ${data.unit} lost. ${end}`;
  }

  host.addEventListener("click", (event) => {
    const box = drawn.svg.getBoundingClientRect();
    const clock = drawn.back((event.clientX - box.left) * drawn.svg.viewBox.baseVal.width / box.width);
    const k = shown.clock.reduce((best, value, at) => (Math.abs(value - clock) < Math.abs(shown.clock[best] - clock) ? at : best), 0);
    for (const side of ["x1", "x2"]) cursor.setAttribute(side, drawn.x(shown.clock[k]));
    cursor.setAttribute("visibility", "visible");
    get("moment").textContent = `Row ${shown.rows[k]}, at ${tidy(shown.clock[k])} ${data.clock}: `
      + `${tidy(shown.remaining[k])} ${data.unit} remain, ${Math.round(100 * shown.done[k])}% is done.`;
  });
  select.addEventListener("change", draw);
  if (worst.length) draw();
}

function startLoss() {
  const host = get("loss");
  const curves = data.curves.filter(({ loss }) => loss.length > 1);
  if (!curves.length) return;
  const steps = curves.flatMap((one) => one.steps), loss = curves.flatMap((one) => one.loss);
  const drawn = frame(Math.max(300, Math.min(640, host.clientWidth || 640)), 220, [0, Math.max(...steps)], [0, Math.max(...loss)], ["gradient steps", "loss"]);
  drawn.svg.append(...curves.map((one, k) => coloured(element("polyline", { class: "line",
    points: one.steps.map((step, at) => `${drawn.x(step)},${drawn.y(one.loss[at])}`).join(" ") }), `var(--series-${k % 7})`)));
  host.replaceChildren(drawn.svg);
}

startMap();
startTimeline();
startLoss();
