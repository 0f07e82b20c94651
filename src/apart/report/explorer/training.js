// A slider through training: which places have a skill, which were won and lost since the moment
// before.

function trainingPart() {
  const panel = html("div", { class: "panel" });
  const said = html("div", { class: "said", "aria-live": "polite" });
  const slide = html("input", { type: "range", min: 0, max: 0, step: 1,
    "aria-label": "Moment of training", input: () => show(Number(slide.value)) });
  const toggle = button("Play", () => (timer ? stop() : begin()), { class: "main" });
  const bar = html("div", { class: "bar" }, toggle, slide);
  let picture = null, moment = 0, timer = null;

  function ends(at) {
    const { last } = state.run.history, skills = state.run.skills;
    return Array.from(last.subarray(at * skills, (at + 1) * skills));
  }

  function show(at) {
    const { run } = state;
    moment = at;
    slide.value = at;
    picture.clear();
    picture.start(run.start);
    const now = ends(at), before = at > 0 ? ends(at - 1) : now;
    const there = new Set(now), earlier = new Set(before);
    const first = new Map();
    now.forEach((place, skill) => { if (!first.has(place)) first.set(place, skill); });
    for (const [place, skill] of first) {
      picture.square(place, { class: earlier.has(place) ? "kept" : "won" });
      if (picture.roomy) picture.text(place, skill);
    }
    const lost = [...earlier].filter((place) => !there.has(place));
    for (const place of lost) cross(picture, place);
    const moved = now.filter((place, skill) => place !== before[skill]).length;
    const won = [...there].filter((place) => !earlier.has(place)).length;
    const text = `after ${whole(run.history.steps[at])} steps`;
    slide.setAttribute("aria-valuetext", text);
    said.replaceChildren(html("p", { class: "verdict" }, text), facts([
      ["places with a skill", whole(there.size)],
      at > 0 && ["won", whole(won)],
      at > 0 && ["lost", whole(lost.length)],
      at > 0 && ["skills that moved", whole(moved)],
    ]));
  }

  function begin() {
    const last = state.run.history.steps.length - 1;
    if (moment >= last) show(0);
    toggle.textContent = "Pause";
    timer = setInterval(() => {
      if (moment >= last) stop();
      else show(moment + 1);
    }, 400);
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    toggle.textContent = "Play";
  }

  listen((_, another) => {
    if (!another) return;
    stop();
    const { run } = state, stored = run.history !== null;
    bar.hidden = !stored;
    picture = new Picture(run.world, "Places with a skill, at a moment of training");
    panel.replaceChildren(...(stored ? [picture.node] : []));
    if (!stored) {
      said.replaceChildren("This run did not store where its skills ended during training "
        + "(history.jsonl).");
      return;
    }
    slide.max = run.history.steps.length - 1;
    show(run.history.steps.length - 1);
  });
  return shownWhere(hasPlaces, part("training", "Through training", html("span", {},
    html("span", { class: "swatch kept" }), " has a skill, ",
    html("span", { class: "swatch won" }), " won since the evaluation before, ",
    html("span", { class: "swatch lost" }, "\u00d7"), " lost since then. The number is the first "
    + "skill that ends there."), bar, html("div", { class: "beside" }, panel,
    html("div", { class: "side" }, said))));
}

function cross(picture, place) {
  const { x, y, size } = picture.world, half = 0.25 * size;
  picture.marks.append(svg("path", {
    d: `M${x[place] - half} ${y[place] - half}l${2 * half} ${2 * half}`
      + `M${x[place] + half} ${y[place] - half}l${-2 * half} ${2 * half}`,
    "stroke-width": 0.1 * size, class: "crossed",
  }));
}
