"use strict";
// A trained model in a page. An array is { shape, values }: float32 numbers, row by row; operations act on its last axis.

const lengthOf = (shape) => shape.reduce((product, size) => product * size, 1);
const array = (shape, values = new Float32Array(lengthOf(shape))) => ({ shape, values });
const width = ({ shape }) => (shape.length ? shape[shape.length - 1] : 1);
const BLOCK_ROWS = 256; // that are embedded or measured at once: what lies between stays in a cache
const SELU_SCALE = 1.0507009873554805, SELU_ALPHA = 1.6732632423543772;

// Operations by name, on one number and on two. A loop around a switch is several times as fast as one that calls a
// function which it was given.
function ofOne(operation, a) {
  switch (operation) {
    case "relu": return a === -Infinity ? 0 : (a + Math.abs(a)) / 2; // exact; of `max`, a processor guesses the sign
    case "selu": return SELU_SCALE * (a > 0 ? a : SELU_ALPHA * Math.expm1(a));
    case "abs": return Math.abs(a);
    case "root": return Math.sqrt(a);
    case "tanh": return Math.tanh(a);
    case "sigmoid": return 1 / (1 + Math.exp(-a));
    case "sin": return Math.sin(a);
    case "cos": return Math.cos(a);
    case "exp": return Math.exp(a);
    case "log": return Math.log(a);
    case "sign": return Math.sign(a);
    default: return erf(a);
  }
}

function ofTwo(operation, a, b) {
  switch (operation) {
    case "add": return a + b;
    case "subtract": return a - b;
    case "multiply": return a * b;
    case "divide": return a / b;
    case "larger": return Math.max(a, b);
    default: return a; // "first"
  }
}

/** Every number by itself. */
function each(x, operation) {
  const made = array(x.shape);
  for (let k = 0; k < made.values.length; k += 1) made.values[k] = ofOne(operation, x.values[k]);
  return made;
}

/** The steps from one number to the next along each axis of `shape`; 0 where the array is repeated. */
function strides(x, shape) {
  const found = new Array(shape.length).fill(0);
  for (let axis = x.shape.length - 1, step = 1; axis >= 0; axis -= 1) {
    if (x.shape[axis] !== 1) found[axis + shape.length - x.shape.length] = step;
    step *= x.shape[axis];
  }
  return found;
}

function broadcastShape(x, y) {
  const rank = Math.max(x.shape.length, y.shape.length);
  const size = (one, axis) => one.shape[axis - rank + one.shape.length] ?? 1;
  return Array.from({ length: rank }, (_, axis) => (size(x, axis) === 1 ? size(y, axis) : size(x, axis)));
}

/** Pair by pair; axes broadcast as in NumPy. */
function zip(x, y, operation) {
  const made = array(broadcastShape(x, y));
  const { shape, values } = made;
  const [along, across] = [strides(x, shape), strides(y, shape)];
  const last = shape.length - 1, inner = shape.length ? shape[last] : 1;
  const index = new Array(shape.length).fill(0);
  for (let start = 0, p = 0, q = 0; start < values.length; start += inner) {
    const [a, b] = shape.length ? [along[last], across[last]] : [0, 0];
    for (let k = 0; k < inner; k += 1) {
      values[start + k] = ofTwo(operation, x.values[p + k * a], y.values[q + k * b]);
    }
    for (let axis = last - 1; axis >= 0; axis -= 1) { // the next row, as an odometer counts
      index[axis] += 1;
      [p, q] = [p + along[axis], q + across[axis]];
      if (index[axis] < shape[axis]) break;
      [p, q] = [p - along[axis] * shape[axis], q - across[axis] * shape[axis]];
      index[axis] = 0;
    }
  }
  return made;
}

/** One number for every row of the last axis, which goes or stays with length 1. */
function reduce(x, keep, find) {
  const size = width(x), lead = x.shape.slice(0, -1);
  const made = array(keep ? [...lead, 1] : lead);
  for (let row = 0; row < made.values.length; row += 1) made.values[row] = find(x.values, row * size, (row + 1) * size);
  return made;
}

function total(values, start, end) {
  let sum = 0;
  for (let k = start; k < end; k += 1) sum += values[k];
  return sum;
}

const mean = (values, start, end) => total(values, start, end) / (end - start);

function largest(values, start, end) {
  let most = -Infinity;
  for (let k = start; k < end; k += 1) most = Math.max(most, values[k]);
  return most;
}

/** The columns of a weight in fours, padded with zeros, row by row, and in the numbers that a browser computes in. */
function packed({ shape: [size, columns], values }) {
  const made = new Float64Array(Math.ceil(columns / 4) * 4 * size);
  for (let k = 0, from = 0; k < size; k += 1) {
    for (let j = 0; j < columns; j += 1, from += 1) made[((j >> 2) * size + k) * 4 + (j & 3)] = values[from];
  }
  return made;
}

/** Rows by a weight: two rows by four columns at a time, whose eight sums stay in registers. */
function matmul(x, weight) {
  const [size, columns] = weight.shape, rows = x.values.length / size;
  const made = array([...x.shape.slice(0, -1), columns]), given = x.values, out = made.values;
  const factors = weight.packed ??= packed(weight);
  for (let j = 0; j < columns; j += 4) {
    const few = Math.min(4, columns - j);
    for (let row = 0; row < rows; row += 2) {
      const below = row + 1 < rows ? size : 0; // the last of an odd number is its own neighbour
      let a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0;
      for (let k = row * size, at = j * size, end = k + size; k < end; k += 1, at += 4) {
        const u = given[k], v = given[k + below];
        const p = factors[at], q = factors[at + 1], r = factors[at + 2], s = factors[at + 3];
        a += u * p; b += u * q; c += u * r; d += u * s;
        e += v * p; f += v * q; g += v * r; h += v * s;
      }
      const place = row * columns + j;
      write(out, place, few, a, b, c, d);
      if (below) write(out, place + columns, few, e, f, g, h);
    }
  }
  return made;
}

/** The first `few` of four numbers. */
function write(out, place, few, a, b, c, d) {
  out[place] = a;
  if (few > 1) out[place + 1] = b;
  if (few > 2) out[place + 2] = c;
  if (few > 3) out[place + 3] = d;
}

function transpose(x) {
  const [rows, columns] = x.shape;
  const made = array([columns, rows]);
  for (let i = 0; i < rows; i += 1) for (let j = 0; j < columns; j += 1) made.values[j * rows + i] = x.values[i * columns + j];
  return made;
}

function join(parts) {
  const lead = parts[0].shape.slice(0, -1), size = parts.reduce((sum, part) => sum + width(part), 0);
  const made = array([...lead, size]);
  for (let row = 0, rows = lengthOf(lead); row < rows; row += 1) {
    let at = row * size;
    for (const part of parts) {
      made.values.set(part.values.subarray(row * width(part), (row + 1) * width(part)), at);
      at += width(part);
    }
  }
  return made;
}

/** From the lowest to the highest along the last axis. */
function sorted(x) {
  const size = width(x), made = array(x.shape, x.values.slice());
  for (let start = 0; start < made.values.length; start += size) made.values.subarray(start, start + size).sort();
  return made;
}

/** max(low_j, high_(j - 1)) for every j; the first is low_0. */
function covered(low, high) {
  const size = width(high), made = zip(low, high, "first");
  for (let k = 1; k < made.values.length; k += 1) {
    if (k % size) made.values[k] = Math.max(made.values[k], high.values[k - 1]);
  }
  return made;
}

/** The first and the second half of the last axis. */
function halves(x) {
  const size = width(x) / 2, shape = [...x.shape.slice(0, -1), size];
  return [0, 1].map((side) => {
    const half = array(shape);
    for (let row = 0; row < half.values.length / size; row += 1) {
      const start = (2 * row + side) * size;
      half.values.set(x.values.subarray(start, start + size), row * size);
    }
    return half;
  });
}

/** Rows (n, size) as (n, ...shape), their axes in another order, as (n, ...into). */
function arranged(x, { shape, order, into }) {
  const count = x.shape[0], size = lengthOf(shape), made = array([count, ...into]);
  const steps = shape.map((_, axis) => lengthOf(shape.slice(axis + 1)));
  for (let k = 0; k < size; k += 1) {
    let from = 0, left = k;
    for (let axis = order.length - 1; axis >= 0; axis -= 1) {
      const length = shape[order[axis]];
      from += (left % length) * steps[order[axis]];
      left = Math.floor(left / length);
    }
    for (let row = 0; row < count; row += 1) made.values[row * size + k] = x.values[row * size + from];
  }
  return made;
}

/** Images (n, h, w, c) by a weight (3, 3, c, d), padded with zeros. */
function convolved(x, weight) {
  const [count, height, across, channels] = x.shape, deep = weight.shape[3];
  const made = array([count, height, across, deep]), sums = new Float64Array(deep);
  for (let n = 0; n < count; n += 1) {
    for (let i = 0; i < height; i += 1) {
      for (let j = 0; j < across; j += 1) {
        sums.fill(0);
        for (let tap = 0; tap < 9; tap += 1) {
          const [row, column] = [i + Math.floor(tap / 3) - 1, j + tap % 3 - 1];
          if (row < 0 || row >= height || column < 0 || column >= across) continue;
          const pixel = ((n * height + row) * across + column) * channels;
          for (let c = 0; c < channels; c += 1) {
            const factor = x.values[pixel + c], at = (tap * channels + c) * deep;
            if (factor) for (let d = 0; d < deep; d += 1) sums[d] += factor * weight.values[at + d];
          }
        }
        made.values.set(sums, ((n * height + i) * across + j) * deep);
      }
    }
  }
  return made;
}

/** The largest of 3 x 3 pixels around every second one. */
function halved(x) {
  const [count, height, across, channels] = x.shape;
  const made = array([count, Math.ceil(height / 2), Math.ceil(across / 2), channels]);
  made.values.fill(-Infinity);
  for (let n = 0, at = 0; n < count; n += 1) {
    for (let i = 0; i < height; i += 2) {
      for (let j = 0; j < across; j += 2, at += channels) {
        for (let row = Math.max(0, i - 1); row <= Math.min(height - 1, i + 1); row += 1) {
          for (let column = Math.max(0, j - 1); column <= Math.min(across - 1, j + 1); column += 1) {
            const pixel = ((n * height + row) * across + column) * channels;
            for (let c = 0; c < channels; c += 1) made.values[at + c] = Math.max(made.values[at + c], x.values[pixel + c]);
          }
        }
      }
    }
  }
  return made;
}

/** The error function: its series near 0, and a continued fraction for what is left of 1 further out. */
function erf(x) {
  const size = Math.abs(x), square = x * x;
  if (size > 6) return Math.sign(x);
  if (size < 2.5) {
    let term = x, sum = x;
    for (let k = 1; Math.abs(term) > 1e-17 * Math.abs(sum); k += 1) sum += term *= 2 * square / (2 * k + 1);
    return 2 / Math.sqrt(Math.PI) * Math.exp(-square) * sum;
  }
  let fraction = size;
  for (let k = 40; k > 0; k -= 1) fraction = size + k / 2 / fraction;
  return Math.sign(x) * (1 - Math.exp(-square) / (Math.sqrt(Math.PI) * fraction));
}

const ON_ONE = ["relu", "selu", "abs", "root", "tanh", "sigmoid", "sin", "cos", "exp", "log", "sign", "erf"];
const ON_TWO = ["add", "subtract", "multiply", "divide", "larger"];

/** What a step of a program may do. */
const OPERATIONS = {
  ...Object.fromEntries(ON_ONE.map((name) => [name, (x) => each(x, name)])),
  ...Object.fromEntries(ON_TWO.map((name) => [name, (x, y) => zip(x, y, name)])),
  sum: (x) => reduce(x, false, total),
  mean: (x, { keep }) => reduce(x, keep, mean),
  max: (x, { keep }) => reduce(x, keep, largest),
  single: (x) => array(x.shape.slice(0, -1), x.values),
  split: (x, { size }) => array([...x.shape.slice(0, -1), width(x) / size, size], x.values),
  at_least: (x, { least }) => zip(x, array([], Float32Array.of(least)), "larger"),
  pick: (all, { index }) => all[index],
  join: (...given) => join(given.slice(0, -1)), // the last are the settings
  flattened: (x) => array([x.values.length], x.values),
  rows: (x) => array([x.shape[0], lengthOf(x.shape.slice(1))], x.values),
  matmul, transpose, sorted, covered, halves, arranged, convolved, halved,
};

/** What `compute` makes of a block of rows after the other; a single row goes with all of another array. */
function inBlocks(compute, ...given) {
  const most = Math.max(1, ...given.map(({ shape }) => shape[0])), blocks = [];
  for (let start = 0; start < most; start += BLOCK_ROWS) {
    blocks.push(compute(...given.map((x) => (x.shape[0] === 1 ? x : rowsOf(x, start, start + BLOCK_ROWS)))));
  }
  const count = blocks.reduce((sum, { shape }) => sum + shape[0], 0), [, ...rest] = blocks[0].shape;
  const made = array([count, ...rest]);
  blocks.forEach(({ values }, k) => made.values.set(values, k * BLOCK_ROWS * lengthOf(rest)));
  return made;
}

function rowsOf({ shape: [count, ...rest], values }, start, end) {
  const size = lengthOf(rest), last = Math.min(end, count);
  return array([last - start, ...rest], values.subarray(start * size, last * size));
}

/** Steps in order. What depends on no input is computed once. */
class Program {
  constructor({ steps, output }, weights) {
    [this.steps, this.output] = [steps, output];
    this.known = new Array(steps.length);
    steps.forEach(({ do: operation, of, ...settings }, k) => {
      if (operation === "weight") this.known[k] = weights(settings.name);
      else if (operation === "constant") this.known[k] = array([], Float32Array.of(settings.value));
      else if (operation !== "input" && of.every((place) => this.known[place])) this.known[k] = this.carryOut(k, this.known);
    });
  }

  carryOut(k, values) {
    const { do: operation, of, ...settings } = this.steps[k];
    return OPERATIONS[operation](...of.map((place) => values[place]), settings);
  }

  run(...inputs) {
    const values = [...this.known];
    this.steps.forEach(({ do: operation }, k) => {
      if (operation === "input") values[k] = inputs.shift();
      else values[k] ??= this.carryOut(k, values);
    });
    return values[this.output];
  }
}

/** Distances between states, from what `minaction.runtimes.javascript.describe` wrote. */
class Model {
  constructor({ encoder, quasimetric, places, weights, size, origin, time }) {
    const bytes = Uint8Array.from(atob(weights), (character) => character.charCodeAt(0));
    const numbers = new Float32Array(bytes.buffer);
    const weight = (name) => array(places[name].shape,
      numbers.subarray(places[name].start, places[name].start + lengthOf(places[name].shape)));
    [this.encoder, this.quasimetric] = [encoder, quasimetric].map((program) => new Program(program, weight));
    [this.size, this.origin, this.time] = [size, origin, time];
  }

  /** Embeddings of states, each an array of numbers. */
  embed(states) {
    const rows = array([states.length, this.size]);
    states.forEach((state, row) => state.forEach((number, k) => {
      rows.values[row * this.size + k] = number - (this.origin ? this.origin[k] : 0);
    }));
    return inBlocks((block) => this.encoder.run(block), rows);
  }

  /** From the embeddings x to the embeddings y; one row on a side is measured against all of the other. */
  measure(x, y) {
    return inBlocks((...blocks) => this.quasimetric.run(...blocks), x, y).values.map((value) => value * this.time);
  }

  /** From states to goals, pair by pair, or one to all. */
  distance(states, goals) {
    return this.measure(this.embed(states), this.embed(goals));
  }
}
