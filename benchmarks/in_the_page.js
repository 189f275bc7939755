// What a page is asked and timed for, beside `model.js`.

const QUESTIONS = {
  distance: (states, goals) => model.distance(states, goals),

  pairwise(states, goals) {
    const [x, y] = [model.embed(states), model.embed(goals)];
    const found = new Float32Array(states.length * goals.length);
    for (let row = 0; row < states.length; row += 1) {
      found.set(model.measure(rowsOf(x, row, row + 1), y), row * goals.length);
    }
    return found;
  },

  /** A block at a time, because the embeddings of a million states are a gigabyte. */
  nearest([state], states, k, size = 8192) {
    const from = model.embed([state]);
    let best = []; // pairs of a distance and an index
    for (let start = 0; start < states.length; start += size) {
      model.measure(from, model.embed(states.slice(start, start + size))).forEach((distance, at) => {
        if (best.length < k || distance < best[k - 1][0]) {
          best = [...best, [distance, start + at]].sort(([a], [b]) => a - b).slice(0, k);
        }
      });
    }
    return best.map(([, index]) => index);
  },
};

/** States as `model.js` takes them, and any other argument as it is. */
function received(given) {
  if (given.text === undefined) return given;
  const bytes = Uint8Array.from(atob(given.text), (character) => character.charCodeAt(0));
  const numbers = new Float32Array(bytes.buffer);
  return Array.from({ length: numbers.length / given.size }, (_, row) =>
    Array.from(numbers.subarray(row * given.size, (row + 1) * given.size)));
}

const answer = (question, given) => [...QUESTIONS[question](...given.map(received))];

/** Of one call. A page's clock ticks ten thousand times a second, so that a short one is repeated. */
function seconds(question, given) {
  const taken = given.map(received), began = performance.now();
  let calls = 0;
  do {
    QUESTIONS[question](...taken);
    calls += 1;
  } while (performance.now() - began < 20);
  return (performance.now() - began) / 1000 / calls;
}
