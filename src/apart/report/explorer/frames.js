// Small frames of skills, where the run folder keeps them: what is seen at the start, and after
// parts of an episode.

function framesOf(run, skill) {
  const { frames } = run, row = frames ? frames.skills.indexOf(skill) : -1;
  if (row < 0) return null;
  const count = frames.times.length;
  return Array.from({ length: count }, (_, n) => frames.which[row * count + n]);
}

// One frame as a picture of its own size; the page makes it larger without smoothing.
function frame(run, number) {
  const { palette, sprites } = run.frames, [, tall, wide] = sprites.shape;
  const canvas = html("canvas", { width: wide, height: tall, class: "frame-picture" });
  const pixels = new Uint8ClampedArray(4 * tall * wide), first = number * tall * wide;
  for (let i = 0; i < tall * wide; i += 1) {
    const colour = 3 * sprites[first + i];
    pixels.set([palette[colour], palette[colour + 1], palette[colour + 2], 255], 4 * i);
  }
  canvas.getContext("2d").putImageData(new ImageData(pixels, wide, tall), 0, 0);
  return canvas;
}

// All frames of a skill in a row, each with the step after which it was seen.
function strip(run, skill) {
  const numbers = framesOf(run, skill);
  if (!numbers) return null;
  return html("ol", { class: "strip", "aria-label": `Frames of skill ${skill}` },
    numbers.map((number, n) => html("li", {}, frame(run, number),
      html("span", {}, `step ${run.frames.times[n]}`))));
}

// Marks the last frame that was seen by step `time`.
function markStrip(node, run, time) {
  const seen = run.frames.times.filter((at) => at <= time).length - 1;
  [...node.children].forEach((item, n) => item.classList.toggle("now", n === seen));
}
