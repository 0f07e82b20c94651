// Elements. Text always goes in as text: nothing that a run folder says can become markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(name, value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : String(child));
  }
  return node;
}

// html("button", {class: "small", click: act}, "Play"): functions are listeners.
function html(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

function svg(name, attributes, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

let numbered = 0;

// A label and its control, tied together.
function labelled(text, control) {
  control.id = control.id || `control-${(numbered += 1)}`;
  return html("span", { class: "field" }, html("label", { for: control.id }, text), control);
}

function choice(options, chosen, change) {
  const made = options.map(([value, text]) => html("option", { value }, text));
  const select = html("select", { change: () => change(select.value) }, made);
  select.value = String(chosen);
  return select;
}

function checkbox(text, checked, change) {
  const box = html("input", { type: "checkbox", change: () => change(box.checked) });
  box.checked = checked;
  return html("label", { class: "check" }, box, text);
}

function button(text, act, attributes) {
  return html("button", { type: "button", click: act, ...attributes }, text);
}

// A number from 0 to `most` with buttons for one less and one more; calls back with valid ones only.
function stepper(text, value, most, change) {
  const input = html("input", { type: "number", min: 0, max: most, step: 1, inputmode: "numeric" });
  input.value = value;
  const set = (number) => {
    if (Number.isInteger(number) && number >= 0 && number <= most) change(number);
    else input.value = value;
  };
  input.addEventListener("change", () => set(Number(input.value)));
  const by = (step) => () => set((Number(input.value) + step + most + 1) % (most + 1));
  const node = html("span", { class: "stepper" }, labelled(text, input),
    button("\u2039", by(-1), { "aria-label": `${text}: one less` }),
    button("\u203a", by(1), { "aria-label": `${text}: one more` }));
  return { node, show: (number) => { value = number; input.value = number; } };
}

// Names and values, as a table that is read in pairs.
function facts(pairs) {
  return html("dl", { class: "facts" }, pairs.filter((pair) => pair).map(([name, value]) =>
    html("div", {}, html("dt", {}, name), html("dd", {}, value))));
}

// A part of the page. `body` is what stands below its heading.
function part(id, title, words, ...body) {
  return html("section", { id, "aria-labelledby": `${id}-title` },
    html("h2", { id: `${id}-title`, tabindex: -1 }, title),
    words && html("p", { class: "words" }, words), body);
}

function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function whole(number) {
  return number === null || number === undefined ? "\u2013" : Number(number).toLocaleString("en-US");
}

function rounded(number, digits = 3) {
  if (number === null || number === undefined) return "\u2013";
  return Number.isInteger(number) ? whole(number) : String(Number(number.toPrecision(digits)));
}

function percent(share) {
  if (share > 0.995 && share < 1) return "over 99 %";
  return share > 0 && share < 0.005 ? "under 1 %" : `${Math.round(100 * share)} %`;
}
