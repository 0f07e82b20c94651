// Lines with their intervals, in the width that there is.

const DASHES = ["", "7 3", "2 3", "8 3 2 3", "1 4", "12 4", "4 2 1 2"];

// `spec`: {series: [{label, x, estimate, low, high}], levels: [{label, y}], across, up, name,
// share: whether all numbers are from 0 to 1}
function chart(spec) {
  const node = html("figure", { class: "chart" });
  const readout = html("figcaption", { class: "said" });
  const holder = html("div");
  node.append(holder, legendOf(spec.series), readout);
  let drawn = 0;
  new ResizeObserver(() => {
    const width = Math.max(Math.floor(holder.clientWidth), 240);
    if (width === drawn) return;
    drawn = width;
    holder.replaceChildren(lineChart(spec, width, Math.round(Math.min(340, 150 + width / 5)),
      (text) => { readout.textContent = text; }));
  }).observe(holder);
  return node;
}

function lineChart(spec, width, height, tell) {
  const box = { left: 52, right: width - 14, top: 26, bottom: height - 40 };
  const xs = spec.series.flatMap((one) => one.x);
  const ys = [...spec.series.flatMap((one) => [...one.low, ...one.high]),
    ...spec.levels.map((level) => level.y)];
  const x = scaleOf(Math.min(...xs), Math.max(...xs), box.left, box.right);
  const most = spec.share ? 1 : Math.max(...ys) + 0.06 * (Math.max(...ys) - Math.min(0, ...ys));
  const y = scaleOf(Math.min(0, ...ys), most, box.bottom, box.top);
  const picture = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": spec.name }, axes(box, x, y, spec));
  for (const { label, y: at } of spec.levels) {
    picture.append(
      svg("line", { x1: box.left, x2: box.right, y1: y(at), y2: y(at), class: "level" }),
      svg("text", { x: box.right, y: y(at) - 4, class: "level-name" }, `${label} ${rounded(at)}`));
  }
  spec.series.forEach((one, i) => {
    const inside = (value) => y(Math.max(y.low, Math.min(y.high, value)));
    const there = one.x.map((at, n) => `${x(at)},${inside(one.high[n])}`);
    const back = one.x.map((at, n) => `${x(at)},${inside(one.low[n])}`).reverse();
    picture.append(
      svg("polygon", { points: [...there, ...back].join(" "), class: `band c${i % 7}` }),
      svg("polyline", { points: one.x.map((at, n) => `${x(at)},${y(one.estimate[n])}`).join(" "),
        class: `curve c${i % 7}`, "stroke-dasharray": DASHES[i % 7] }));
  });
  const ruler = svg("line", { y1: box.top, y2: box.bottom, class: "ruler", visibility: "hidden" });
  picture.append(ruler);
  picture.addEventListener("pointermove", (event) => {
    const at = x.back(event.clientX - picture.getBoundingClientRect().left);
    fill(ruler, { x1: x(at), x2: x(at), visibility: "visible" }, []);
    tell(spec.series.map((one) => reading(one, at)).join(" \u00b7 "));
  });
  return picture;
}

function reading(one, at) {
  let near = 0;
  one.x.forEach((x, n) => { if (Math.abs(x - at) < Math.abs(one.x[near] - at)) near = n; });
  const spread = one.low[near] === one.high[near] ? ""
    : ` (${rounded(one.low[near])} to ${rounded(one.high[near])})`;
  return `${one.label} at ${whole(one.x[near])}: ${rounded(one.estimate[near])}${spread}`;
}

function scaleOf(low, high, from, to) {
  const span = high - low || 1;
  const scale = (value) => Number((from + (to - from) * (value - low) / span).toFixed(2));
  scale.back = (at) => Math.max(low, Math.min(high, low + span * (at - from) / (to - from)));
  scale.low = low;
  scale.high = low + span;
  return scale;
}

function axes(box, x, y, spec) {
  const lines = ticks(y.low, y.high, 5).map((at) => [
    svg("line", { x1: box.left, x2: box.right, y1: y(at), y2: y(at), class: "grid" }),
    svg("text", { x: box.left - 6, y: y(at) + 4, class: "tick up" }, compact(at))]);
  const columns = ticks(x.low, x.high, (box.right - box.left) / 80).map((at) =>
    svg("text", { x: x(at), y: box.bottom + 16, class: "tick" }, compact(at)));
  return svg("g", {}, lines.flat(), columns,
    svg("text", { x: (box.left + box.right) / 2, y: box.bottom + 34, class: "axis" }, spec.across),
    svg("text", { x: 4, y: 10, class: "axis up" }, spec.up));
}

// Round numbers from `low` to `high`, about `count` of them.
function ticks(low, high, count) {
  const rough = (high - low) / Math.max(count, 1), power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
  const found = [];
  for (let n = Math.ceil(low / step); n * step <= high + 1e-9 * step; n += 1) found.push(n * step);
  return found;
}

function compact(number) {
  const size = Math.abs(number);
  if (size >= 1e6) return `${rounded(number / 1e6)}M`;
  if (size >= 1e3) return `${rounded(number / 1e3)}k`;
  return rounded(number);
}

function legendOf(series) {
  return html("ul", { class: "legend" }, series.map((one, i) => html("li", {},
    svg("svg", { width: 30, height: 10, "aria-hidden": "true" },
      svg("line", { x1: 0, x2: 30, y1: 5, y2: 5, class: `curve c${i % 7}`,
        "stroke-dasharray": DASHES[i % 7] })), one.label)));
}

// The numbers behind a chart, for those who would rather read them.
function numbersOf(spec) {
  const rows = spec.series.flatMap((one) => one.x.map((at, n) =>
    [one.label, whole(at), rounded(one.estimate[n], 4), rounded(one.low[n], 4),
      rounded(one.high[n], 4)]));
  return html("details", {}, html("summary", {}, "The numbers"),
    table(["", spec.across, spec.up, "low", "high"], rows));
}

function table(heads, rows) {
  return html("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Table" },
    html("table", {},
      html("thead", {}, html("tr", {}, heads.map((head) => html("th", { scope: "col" }, head)))),
      html("tbody", {}, rows.map((row) => html("tr", {}, row.map((cell, i) =>
        (i === 0 ? html("th", { scope: "row" }, cell) : html("td", {}, cell))))))));
}
