// Recorded images on the page of an own recording, cut out of one sheet.

const WAYPOINTS = 8;

/** The sheet of all pictures, or null where states are no images. */
async function loadPictures() {
  if (!data.pictures) return null;
  const sheet = new Image();
  sheet.src = data.pictures.sheet;
  await sheet.decode();
  return sheet;
}

/** The picture of a state; clicking it chooses the state. */
function picture(sheet, state, title) {
  const { width, height, columns } = data.pictures;
  const made = element("canvas", { width, height, class: "picture", "data-state": state, title, role: "img", "aria-label": title });
  made.getContext("2d").drawImage(sheet, state % columns * width, Math.floor(state / columns) * height, width, height, 0, 0, width, height);
  return made;
}

/** States from `from` to `to`, evenly far apart, each the one that makes the way longer by the least. */
function wayBetween(from, to, count, there) {
  const whole = there(from, to), found = [from];
  for (let stop = 1; stop < WAYPOINTS; stop += 1) {
    let best = -1, least = Infinity;
    for (let k = 0; k < count; k += 1) {
      const gone = there(from, k), left = there(k, to);
      const cost = gone + left - whole + Math.abs(gone - whole * stop / WAYPOINTS);
      if (cost < least && k !== to && !found.includes(k)) [best, least] = [k, cost];
    }
    if (best >= 0 && least < whole) found.push(best);
  }
  return [...found, to];
}
