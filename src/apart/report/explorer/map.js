// The world as a picture: walls and floor, and layers on it that others fill. One square of the
// map is one unit of the picture, whatever its size on the screen.

class Picture {
  // `pick(place)` makes it a control: by click, or with the arrow keys and Enter.
  constructor(world, label, pick) {
    const { left, top, wide, tall } = world.box;
    const named = label !== "" && world.axes.length === 2 && world.form === "map";
    const room = named ? 0.09 * Math.max(wide, tall) : 0.1;
    this.world = world;
    this.back = svg("g");
    this.lines = svg("g");
    this.marks = svg("g");
    this.cursor = svg("g");
    this.node = svg("svg", {
      viewBox: `${left - room} ${top - 0.1} ${wide + room + 0.1} ${tall + (named ? 0.6 * room : 0.1) + 0.1}`,
      class: "map",
      role: pick ? "application" : "img", "aria-label": label,
    }, ground(world), named && scales(world, room), this.back, this.lines, this.marks, this.cursor);
    if (pick) this.#listen(pick);
  }

  clear() {
    for (const layer of [this.back, this.lines, this.marks]) layer.replaceChildren();
  }

  // A place as a square in a layer behind everything else.
  square(place, attributes) {
    const { x, y, size } = this.world, side = 0.94 * size;
    this.back.append(svg("rect", {
      x: x[place] - side / 2, y: y[place] - side / 2, width: side, height: side, ...attributes,
    }));
  }

  // A path through places, or through `points` where they are known; `skill` moves it a little
  // within its squares, so that paths do not hide each other.
  path(places, skill, attributes, points = null) {
    const line = points || places.map((place) => pointOf(this.world, place, skill));
    this.lines.append(svg("polyline", {
      points: line.map((point) => point.join(",")).join(" "),
      "stroke-width": 0.055 * this.world.unit, class: "path", ...attributes,
    }));
  }

  mark(place, attributes, radius = 0.22, point = null) {
    const [cx, cy] = point || pointOf(this.world, place);
    this.marks.append(svg("circle", { cx, cy, r: radius * this.world.unit, ...attributes }));
  }

  // A square frame around a place: where something ends, or a goal.
  frame(place, attributes) {
    const { x, y, size } = this.world, side = 0.8 * size;
    this.marks.append(svg("rect", {
      x: x[place] - side / 2, y: y[place] - side / 2, width: side, height: side,
      rx: 0.12 * size, "stroke-width": 0.09 * size, class: "frame", ...attributes,
    }));
  }

  text(place, text, attributes) {
    const { x, y, size } = this.world;
    const room = Math.min(0.44, 1.1 / Math.max(String(text).length, 1));
    this.marks.append(svg("text", {
      x: x[place], y: y[place], "font-size": room * size, class: "inside", ...attributes,
    }, text));
  }

  // Whether numbers in the squares can be read.
  get roomy() {
    return Math.max(this.world.box.wide, this.world.box.tall) / this.world.size <= 24;
  }

  start(place) {
    this.mark(place, { class: "start", "stroke-width": 0.07 * this.world.unit }, 0.3);
  }

  #listen(pick) {
    const { world, node } = this;
    let here = null;
    const show = (place) => {
      here = place;
      const { x, y, size } = world;
      this.cursor.replaceChildren(svg("rect", {
        x: x[place] - size / 2, y: y[place] - size / 2, width: size, height: size,
        "stroke-width": 0.08 * size, class: "cursor",
      }));
      node.setAttribute("aria-description", `at ${nameOf(world, place)}`);
    };
    this.show = show;
    node.setAttribute("tabindex", 0);
    node.classList.add("control");
    node.addEventListener("click", (event) => {
      const at = new DOMPoint(event.clientX, event.clientY)
        .matrixTransform(node.getScreenCTM().inverse());
      const place = world.at.get(squareKey(world, at.x, at.y));
      if (place === undefined) return;
      show(place);
      pick(place);
    });
    node.addEventListener("keydown", (event) => {
      const way = ARROWS[event.key];
      if (!way && event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      if (here === null) show(world.start || 0);
      else if (way) show(neighbour(world, here, ...way));
      else pick(here);
    });
  }
}

const ARROWS = {
  ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1],
};

// The nearest place in a direction; the same place where there is none.
function neighbour(world, from, dx, dy) {
  let best = from, least = Infinity;
  for (let place = 0; place < world.n; place += 1) {
    const right = world.x[place] - world.x[from], down = world.y[place] - world.y[from];
    const along = right * dx + down * dy, aside = Math.abs(right * dy) + Math.abs(down * dx);
    const far = along + 3 * aside;
    if (along > 1e-6 && aside <= along + 1e-6 && far < least) [best, least] = [place, far];
  }
  return best;
}

function pointOf(world, place, skill) {
  if (skill === null || skill === undefined) return [world.x[place], world.y[place]];
  const spread = (factor) => 0.56 * world.size * (((skill + 1) * factor) % 1 - 0.5);
  return [world.x[place] + spread(0.618), world.y[place] + spread(0.755)];
}

function ground(world) {
  const { left, top, wide, tall } = world.box;
  const floor = svg("rect", { x: left, y: top, width: wide, height: tall, class: "floor" });
  if (world.form === "list") {
    return svg("g", {}, Array.from(world.x, (x, place) => svg("rect", {
      x: x - 0.45, y: world.y[place] - 0.45, width: 0.9, height: 0.9, class: "floor", rx: 0.08,
    })));
  }
  if (world.plane) {
    const { solid, walls } = world.plane;
    return svg("g", {}, floor, net(world),
      solid.map(([x, y, width, height]) => svg("rect", { x, y, width, height, class: "wall" })),
      walls.map(([x1, y1, x2, y2]) => svg("line", { x1, y1, x2, y2, class: "border",
        "stroke-width": 0.12 })));
  }
  return svg("g", {}, floor, net(world), svg("path", { d: wallsOf(world), class: "wall" }));
}

// Lines between squares, where there are not too many.
function net(world) {
  const { left, top, wide, tall } = world.box;
  if (Math.max(wide, tall) > 48) return null;
  const parts = [];
  for (let x = 1; x < wide; x += 1) parts.push(`M${left + x} ${top}v${tall}`);
  for (let y = 1; y < tall; y += 1) parts.push(`M${left} ${top + y}h${wide}`);
  return svg("path", { d: parts.join(""), class: "net", "stroke-width": 0.03 });
}

// The walls as one shape, a run of neighbours in a row as one rectangle.
function wallsOf(world) {
  if (world.drawnWalls !== undefined) return world.drawnWalls;
  const parts = [];
  world.walls.forEach((row, y) => {
    for (let x = 0; x < row.length; x += 1) {
      if (!row[x]) continue;
      let end = x;
      while (row[end]) end += 1;
      parts.push(`M${x} ${y}h${end - x}v1h${x - end}z`);
      x = end;
    }
  });
  world.drawnWalls = parts.join("");
  return world.drawnWalls;
}

// What the rows and columns of a map of bins are: names, and values at both ends.
function scales(world, room) {
  const [rows, columns] = world.axes, { left, top, wide, tall } = world.box, size = 0.34 * room;
  const text = (x, y, words, anchor, turned) => svg("text", { x, y, "font-size": size,
    "text-anchor": anchor, transform: turned && `rotate(-90 ${x} ${y})`, class: "scales" }, words);
  const below = top + tall + 1.1 * size, beside = left - 0.4 * size;
  return svg("g", { "aria-hidden": "true" },
    text(beside, top + tall, value(rows.high), "start", true),
    text(beside, top + tall / 2, titleOf(rows), "middle", true),
    text(beside, top, value(rows.low), "end", true),
    text(left, below, value(columns.low), "start"),
    text(left + wide / 2, below, titleOf(columns), "middle"),
    text(left + wide, below, value(columns.high), "end"));
}

function titleOf(axis) {
  return axis.unit ? `${axis.name} (${axis.unit})` : axis.name;
}

function value(number) {
  return String(Number(number.toFixed(2))).replace("-", "\u2212");
}

// The values in a bin; the outermost bins also hold what lies outside.
function binOf(axis, bin) {
  const { low, high, bins, unit } = axis, of = unit ? ` ${unit}` : "";
  const ends = [bin, bin + 1].map((n) => low + n * (high - low) / bins).sort((a, b) => a - b);
  const first = bin === 0, last = bin === bins - 1;
  if (!first && !last) return `${axis.name} ${value(ends[0])} to ${value(ends[1])}${of}`;
  return first === low < high ? `${axis.name} below ${value(ends[1])}${of}`
    : `${axis.name} above ${value(ends[0])}${of}`;
}

// What people call a place.
function nameOf(world, place) {
  const label = world.labels[place], seen = world.names ? `: ${world.names[place]}` : "";
  if (world.axes.length) {
    const bins = label.split(", ");
    return world.axes.map((axis, i) => binOf(axis, Number(bins[i]))).join(", ");
  }
  if (world.form === "list") return `${world.noun} ${label}${seen}`;
  const [row, column, ...more] = label.split(", ");
  const which = more.length ? `, ${world.noun} ${more.join(", ")}` : "";
  return `row ${row}, column ${column}${which}${seen}`;
}
