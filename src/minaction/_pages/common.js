"use strict";
// Helpers of every page. Text from files only ever becomes text: nothing here writes HTML.

const data = JSON.parse(document.getElementById("data").textContent);

const SVG = "http://www.w3.org/2000/svg";
const SVG_NAMES = new Set(["svg", "g", "path", "rect", "line", "circle", "text", "defs", "pattern", "linearGradient", "stop",
  "polyline"]);

/** An element with attributes and children; undefined and null attributes are left out. */
function element(name, attributes = {}, ...children) {
  const made = SVG_NAMES.has(name) ? document.createElementNS(SVG, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

/** Fill a select with options; the present choice is kept if it is among them. */
function offer(select, options, chosen = select.value) {
  select.replaceChildren(...options.map(({ value, text }) => element("option", { value }, text)));
  if (options.some(({ value }) => String(value) === chosen)) select.value = chosen;
}

/** Set the colour with which the style sheet draws an element. */
function coloured(made, colour) {
  made.style.setProperty("--colour", colour);
  return made;
}

const VIRIDIS = ["#440154", "#482475", "#414487", "#355f8d", "#2a788e", "#21918c", "#22a884", "#44bf70", "#7ad151", "#bddf26",
  "#fde725"];
const DIVERGING = ["#0a5a96", "#4f8fc4", "#9cc3e2", "#f7f7f5", "#f6be94", "#e98743", "#b34d00"];

/** The colour at `share` (0 to 1) of the way along some stops, as [red, green, blue]. */
function between(stops, share) {
  const place = Math.min(1, Math.max(0, share)) * (stops.length - 1);
  const index = Math.min(stops.length - 2, Math.floor(place));
  const [low, high] = [stops[index], stops[index + 1]].map((hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16)));
  return low.map((value, k) => Math.round(value + (high[k] - value) * (place - index)));
}

const rgb = (parts) => `rgb(${parts.join(",")})`;
const isDark = ([red, green, blue]) => 0.299 * red + 0.587 * green + 0.114 * blue < 140;

/** Round numbers that divide the range from low to high into about `count` parts. */
function ticks(low, high, count) {
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((k) => k * power).find((size) => size >= rough * 0.999);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k += 1) found.push(Number((k * step).toPrecision(12)));
  return found;
}

/** A number of steps, abbreviated. */
function short(number) {
  if (number >= 1e6) return `${number / 1e6}M`;
  return number >= 1e4 ? `${number / 1e3}k` : String(number);
}
