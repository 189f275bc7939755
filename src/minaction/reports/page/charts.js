// Learning curves: a panel per task and measure, a legend that hides and shows methods, and a cursor that reads values.

const WIDTH = 380, HEIGHT = 230, LEFT = 44, RIGHT = 16, TOP = 10, BOTTOM = 34;
const SERIES = 7;

/** Draw `charts` into `host`, with selects for chart, measure and truth. */
function chartSection(host, charts, noun) {
  if (!host) return;
  charts = charts.filter((chart) => Object.keys(chart.truths).length);
  const labels = [...new Set(charts.flatMap((chart) => Object.keys(chart.labels)))];
  const hidden = new Set();
  const controls = element("div", { class: "controls" });
  const [which, measure, truth] = [noun, "Measure", "Truth"].map((name) => {
    const select = element("select");
    controls.append(element("label", {}, `${name} `, select));
    select.addEventListener("change", draw);
    return select;
  });
  const legend = element("div", { class: "legend", role: "group", "aria-label": "Shown methods" });
  const panels = element("div", { class: "panels" });
  host.append(controls, legend, panels);
  const every = charts.length > 1 ? [{ value: "all", text: `all ${charts.length}` }] : [];
  offer(which, [...charts.map((chart, k) => ({ value: k, text: chart.title })), ...every]);
  offer(measure, [{ value: "all", text: "all" }, ...data.measures.map(({ key, heading }) => ({ value: key, text: heading }))]);
  draw();

  /** A method has the same colour in every chart; once all colours are taken, lines are dashed. */
  function look(label, chart) {
    const place = (noun === "Task" ? labels : Object.keys(chart.labels)).indexOf(label);
    return { colour: `var(--series-${place % SERIES})`, dashed: place >= SERIES };
  }

  function draw() {
    const shown = which.value === "all" ? charts : [charts[Number(which.value)]];
    offer(truth, [...new Set(shown.flatMap((chart) => Object.keys(chart.truths)))].map((name) => ({ value: name, text: name })));
    drawLegend(shown);
    panels.replaceChildren();
    for (const chart of shown) {
      const against = truth.value in chart.truths ? truth.value : Object.keys(chart.truths)[0];
      for (const one of data.measures) {
        if (measure.value !== "all" && measure.value !== one.key) continue;
        const curves = chart.truths[against][one.key] ?? {};
        if (!Object.keys(curves).length) continue;
        const published = chart.published?.truth === against ? chart.published[one.key] ?? {} : {};
        const series = Object.entries(curves).filter(([label]) => !hidden.has(label)).map(([label, [mean, low, high]]) => ({
          label, steps: chart.labels[label].steps, mean, low, high, published: published[label], ...look(label, chart),
        }));
        const title = shown.length > 1 ? `${chart.title}: ${one.heading}, ${against}` : `${one.heading} (${against})`;
        panels.append(drawChart(title, chart.axis, one, series));
      }
    }
  }

  function drawLegend(shown) {
    const own = [...new Set(shown.flatMap((chart) => Object.keys(chart.labels)))];
    legend.replaceChildren(...own.map((label) => {
      const seeds = Math.max(...shown.map((chart) => chart.labels[label]?.seeds ?? 0));
      const { colour, dashed } = look(label, shown.find((chart) => label in chart.labels));
      const button = element("button", { type: "button", "aria-pressed": !hidden.has(label), class: dashed ? "dashed" : null,
        title: `${seeds} seed${seeds > 1 ? "s" : ""}` }, label);
      button.addEventListener("click", () => {
        if (!hidden.delete(label)) hidden.add(label);
        draw();
        [...legend.children].find((one) => one.textContent === label).focus();
      });
      return coloured(button, colour);
    }));
  }
}

/** The ends of the vertical axis. */
function verticalRange(measure, series) {
  const values = [];
  for (const one of series) {
    // Values early in training are far off and would squeeze everything else into a corner.
    const settled = 0.1 * one.steps[one.steps.length - 1];
    one.steps.forEach((step, k) => {
      if (step >= settled) values.push(one.mean[k], ...(one.low ? [one.low[k], one.high[k]] : []));
    });
    if (one.published) values.push(one.published[1][one.published[1].length - 1]);
  }
  const known = values.filter((value) => value !== null);
  if (!known.length) return [0, 1];
  if (measure.best !== null) known.push(measure.best);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const margin = 0.06 * (high > low ? high - low : 1);
  return [low === measure.best ? low : low - margin, high === measure.best ? high : high + margin];
}

/** One panel: axes, bands, lines, published values, and a cursor. */
function drawChart(title, axis, measure, series) {
  const [low, high] = verticalRange(measure, series);
  const last = Math.max(1, ...series.map(({ steps }) => steps[steps.length - 1]));
  const x = (step) => LEFT + (WIDTH - LEFT - RIGHT) * step / last;
  const y = (value) => Math.min(HEIGHT - BOTTOM + 60, TOP + (HEIGHT - TOP - BOTTOM) * (high - value) / (high - low));
  const clip = `clip-${drawChart.count = (drawChart.count ?? 0) + 1}`;
  const ends = series.map(({ label, mean }) => `${label} ${mean[mean.length - 1]?.toFixed(measure.decimals) ?? "no value"}`);
  const svg = element("svg", { class: "chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, tabindex: 0, role: "img",
    "aria-label": `${title} over ${axis}. At the end: ${ends.join(", ") || "nothing is shown"}.` });
  const inside = document.createElementNS(SVG, "clipPath");
  inside.id = clip;
  inside.append(element("rect", { x: LEFT, y: TOP - 4, width: WIDTH - LEFT - RIGHT + 5, height: HEIGHT - TOP - BOTTOM + 4 }));
  svg.append(element("defs", {}, inside));
  for (const value of ticks(low, high, 4)) {
    svg.append(element("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: y(value), y2: y(value) }),
      element("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, String(value)));
  }
  for (const step of ticks(0, last, 4)) {
    svg.append(element("text", { x: x(step), y: HEIGHT - BOTTOM + 16, "text-anchor": "middle" }, short(step)));
  }
  svg.append(element("text", { x: WIDTH - RIGHT, y: HEIGHT - 3, "text-anchor": "end" }, axis));
  const plot = element("g", { "clip-path": `url(#${clip})` });
  for (const one of series) plot.append(...drawSeries(one, x, y));
  svg.append(plot);
  const figure = element("figure", {}, element("figcaption", {}, title), svg);
  addCursor(figure, svg, measure, series, { x, y, last, axis });
  return figure;
}

/** The band, the published curve and the line of one series; points without a value are left out. */
function drawSeries(one, x, y) {
  const known = one.steps.map((_, k) => k).filter((k) => one.mean[k] !== null);
  const path = (values, indices) => indices.map((k) => `${x(one.steps[k]).toFixed(1)} ${y(values[k]).toFixed(1)}`).join("L");
  const parts = [];
  if (one.low && known.length) {
    parts.push(element("path", { class: "band", d: `M${path(one.high, known)}L${path(one.low, [...known].reverse())}Z` }));
  }
  if (one.published) {
    const [steps, values] = one.published;
    const points = steps.length > 1 ? steps.map((step, k) => [step, values[k]]) : [[0, values[0]], [steps[0], values[0]]];
    parts.push(element("polyline", { class: "published", points: points.map(([s, v]) => `${x(s)},${y(v)}`).join(" ") }));
  }
  if (known.length) parts.push(element("path", { class: one.dashed ? "line dashed" : "line", d: `M${path(one.mean, known)}` }));
  if (known.length <= 10) {
    parts.push(...known.map((k) => element("circle", { class: "dot", cx: x(one.steps[k]), cy: y(one.mean[k]), r: 3.5 })));
  }
  return parts.map((part) => coloured(part, one.colour));
}

/** Show the values at the step that mouse, finger or arrow keys point at. */
function addCursor(figure, svg, measure, series, { x, y, last, axis }) {
  const steps = [...new Set(series.flatMap((one) => one.steps))].sort((a, b) => a - b);
  const cursor = element("g");
  const tip = element("div", { class: "tip", hidden: "" });
  svg.append(cursor);
  figure.append(tip);
  let place = steps.length - 1;

  function show() {
    const step = steps[place];
    cursor.replaceChildren(element("line", { class: "cursor", x1: x(step), x2: x(step), y1: TOP, y2: HEIGHT - BOTTOM }));
    const rows = [element("p", {}, element("b", {}, `${axis}: ${step.toLocaleString("en")}`))];
    for (const one of series) {
      const k = one.steps.indexOf(step);
      if (k < 0 || one.mean[k] === null) continue;
      cursor.append(coloured(element("circle", { class: "dot", cx: x(step), cy: y(one.mean[k]), r: 4 }), one.colour));
      const range = one.low ? ` (${one.low[k].toFixed(measure.decimals)}–${one.high[k].toFixed(measure.decimals)})` : "";
      rows.push(element("p", {}, coloured(element("span", { class: "swatch" }, one.label), one.colour),
        element("span", {}, one.mean[k].toFixed(measure.decimals) + range)));
    }
    tip.replaceChildren(...rows);
    tip.hidden = false;
    const room = figure.clientWidth - tip.offsetWidth;
    const at = x(step) / WIDTH * figure.clientWidth;
    tip.style.left = `${Math.max(0, Math.min(room, at > figure.clientWidth / 2 ? at - tip.offsetWidth - 14 : at + 14))}px`;
  }

  function hide() {
    cursor.replaceChildren();
    tip.hidden = true;
  }

  if (!steps.length) return;
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const step = ((event.clientX - box.left) / box.width * WIDTH - LEFT) / (WIDTH - LEFT - RIGHT) * last;
    place = steps.reduce((best, value, k) => (Math.abs(value - step) < Math.abs(steps[best] - step) ? k : best), 0);
    show();
  });
  svg.addEventListener("pointerleave", hide);
  svg.addEventListener("focus", () => svg.matches(":focus-visible") && show());
  svg.addEventListener("blur", hide);
  svg.addEventListener("keydown", (event) => {
    const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!move) return;
    event.preventDefault();
    place = Math.min(steps.length - 1, Math.max(0, place + move));
    show();
  });
}

chartSection(document.getElementById("curves-charts"), data.charts, "Task");
chartSection(document.getElementById("ablations-charts"), data.ablations, "Study");
