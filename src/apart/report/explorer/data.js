// The data of the page: JSON in the document, whose arrays are deflated and in base64.

const KINDS = {
  uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array, float32: Float32Array,
};

async function unpacked(packed) {
  const bytes = Uint8Array.from(atob(packed.data), (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const array = new KINDS[packed.kind](await new Response(stream).arrayBuffer());
  array.shape = packed.shape;
  return array;
}

// The same value with its arrays as typed arrays, which carry their `shape`.
async function withArrays(value) {
  if (Array.isArray(value)) return Promise.all(value.map(withArrays));
  if (value === null || typeof value !== "object") return value;
  if (value.kind in KINDS && typeof value.data === "string") return unpacked(value);
  const entries = Object.entries(value).map(async ([name, part]) => [name, await withArrays(part)]);
  return Object.fromEntries(await Promise.all(entries));
}

async function readData() {
  const text = document.getElementById("data").textContent;
  const data = await withArrays(JSON.parse(text));
  data.worlds.forEach(prepareWorld);
  data.runs.forEach((run, number) => prepareRun(data, run, number));
  return data;
}

function prepareWorld(world) {
  world.n = world.labels.length;
  if (world.form === "map") {
    world.box = { left: 0, top: 0, wide: world.walls[0].length, tall: world.walls.length };
  } else if (world.plane) {
    world.box = { left: 0, top: 0, wide: world.plane.wide, tall: world.plane.tall };
  } else {
    world.box = around(world);
  }
  world.at = new Map(
    Array.from(world.x, (x, place) => [squareKey(world, x, world.y[place]), place]));
  world.unit = Math.max(world.size, Math.max(world.box.wide, world.box.tall) / 45); // of marks
}

// The least box of whole squares around all places.
function around(world) {
  const box = { left: Infinity, top: Infinity }, half = world.size / 2;
  let right = -Infinity, bottom = -Infinity;
  for (let place = 0; place < world.n; place += 1) {
    box.left = Math.min(box.left, Math.floor(world.x[place] - half + 1e-4));
    box.top = Math.min(box.top, Math.floor(world.y[place] - half + 1e-4));
    right = Math.max(right, Math.ceil(world.x[place] + half - 1e-4));
    bottom = Math.max(bottom, Math.ceil(world.y[place] + half - 1e-4));
  }
  return { ...box, wide: right - box.left, tall: bottom - box.top };
}

function squareKey(world, x, y) {
  return `${Math.floor(x / world.size)} ${Math.floor(y / world.size)}`;
}

function prepareRun(data, run, number) {
  run.number = number;
  run.world = data.worlds[run.world];
  run.group = data.groups.find((group) => group.runs.includes(number));
  run.path = (skill) => {
    const length = run.paths.shape[1];
    return Array.from(run.paths.subarray(skill * length, (skill + 1) * length));
  };
  // Where a skill is at every step, in worlds whose places are parts of a plane.
  run.points = (skill) => {
    if (!run.positions) return null;
    const length = run.paths.shape[1], first = 2 * length * skill;
    return Array.from({ length }, (_, t) =>
      [run.positions[first + 2 * t], run.positions[first + 2 * t + 1]]);
  };
  run.start = run.world.start === undefined ? run.paths[0] : run.world.start;
  run.ends = endsOf(run);
  run.order = Array.from(run.last.keys());
  if (run.world.counted) {
    run.order.sort((a, b) => run.last[a] - run.last[b] || a - b);
  }
  run.colour = [];
  run.order.forEach((skill, place) => { run.colour[skill] = `c${place % 7}`; });
  const complete = run.available !== null && run.ends.size >= run.available;
  run.standing = Array.from(run.last, (place, skill) => {
    if (run.ends.get(place)[0] === skill || !run.world.counted) return "owner";
    return complete ? "spare" : "repeated";
  });
}

// Place -> the skills that end there, in the order of their numbers: the first counts as found.
function endsOf(run) {
  const ends = new Map();
  run.last.forEach((place, skill) => ends.set(place, [...(ends.get(place) || []), skill]));
  return ends;
}
