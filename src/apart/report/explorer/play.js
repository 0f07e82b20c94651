// Skills walking: one, or two side by side, from the start or from any other place.

const SPEEDS = [["300", "slow"], ["120", "normal"], ["40", "fast"]];

function playPart() {
  const panels = [new Walker("First skill"), new Walker("Second skill")];
  const said = html("output", { class: "said" });
  const scrub = html("input", { type: "range", min: 0, max: 1, step: 1, value: 0,
    "aria-label": "Step of the episode", input: () => seek(Number(scrub.value)) });
  const toggle = button("Play", () => (timer ? stop() : begin()), { class: "main" });
  const second = html("div", { class: "walkers" });
  let time = 0, timer = null, delay = 120, both = false;

  function seek(t) {
    time = Math.max(0, Math.min(t, state.run.horizon));
    scrub.value = time;
    said.textContent = `step ${time} of ${state.run.horizon}`;
    scrub.setAttribute("aria-valuetext", said.textContent);
    for (const panel of shown()) panel.at(time);
  }

  function shown() {
    return both ? panels : panels.slice(0, 1);
  }

  function begin() {
    if (time >= state.run.horizon) seek(0);
    toggle.textContent = "Pause";
    timer = setInterval(() => {
      seek(time + 1);
      if (time >= state.run.horizon) stop();
    }, delay);
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    toggle.textContent = "Play";
  }

  function arrange() {
    second.replaceChildren(...shown().map((panel) => panel.node));
    second.classList.toggle("two", both);
    seek(time);
  }

  const bar = html("div", { class: "bar" }, toggle,
    button("\u2039 step", () => { stop(); seek(time - 1); }, { "aria-label": "One step back" }),
    button("step \u203a", () => { stop(); seek(time + 1); }, { "aria-label": "One step on" }),
    scrub, said,
    labelled("Speed", choice(SPEEDS, delay, (value) => {
      delay = Number(value);
      if (timer) { stop(); begin(); }
    })),
    checkbox("two side by side", both, (on) => { both = on; arrange(); }));

  listen((_, another) => {
    if (another) {
      stop();
      bar.hidden = !hasPlaces(state.run) && state.run.frames === null;
      scrub.max = state.run.horizon;
      panels.forEach((panel, i) => panel.open(state.run, (state.skill + i) % state.run.skills));
      time = 0;
    } else if (panels[0].skill !== state.skill) {
      panels[0].choose(state.skill);
    }
    arrange();
  });
  panels[0].chosen = (skill) => change({ skill });
  return part("play", "Watch a skill", wordsFor("Click a place to start the skill there. Its policy "
    + "comes from the checkpoint and acts in every state, visited in training or not.",
  "The episode of the skill in the last evaluation."), bar, second);
}

// One map with a skill walking on it.
class Walker {
  constructor(title) {
    this.title = title;
    this.head = html("div", { class: "bar" });
    this.panel = html("div", { class: "panel" });
    this.said = html("p", { class: "said", "aria-live": "polite" });
    this.seen = html("div");
    this.node = html("div", { class: "walker" }, this.head, this.panel, this.seen, this.said);
    this.time = 0;
    this.chosen = () => {};
  }

  open(run, skill) {
    this.run = run;
    this.begin = run.start;
    this.picture = new Picture(run.world, `${this.title} walking. Arrow keys move, Enter starts `
      + "it there.", (place) => this.from(place));
    this.control = stepper(this.title, skill, run.skills - 1, (number) => {
      this.choose(number);
      this.chosen(number);
    });
    this.home = button("from the start", () => this.from(run.start));
    this.head.replaceChildren(this.control.node, this.home);
    this.panel.replaceChildren(this.picture.node);
    this.panel.hidden = this.home.hidden = this.said.hidden = !hasPlaces(run);
    this.choose(skill);
  }

  choose(skill) {
    this.skill = skill;
    this.control.show(skill);
    this.from(this.begin);
  }

  from(place) {
    const { run } = this;
    if (place !== run.start && !canWalk(run)) {
      this.said.textContent = run.policy_note || run.world.note;
      return;
    }
    this.begin = place;
    this.strip = place === run.start ? strip(run, this.skill) : null;
    const last = run.observed && !hasPlaces(run)
      ? `Last observation of skill ${this.skill}: ${run.observed[this.skill]}.` : "";
    const words = [this.strip ? "" : run.frames_note, last].filter(Boolean);
    this.seen.replaceChildren(...(this.strip ? [this.strip] : []),
      ...words.map((text) => html("p", { class: "words" }, text)));
    this.path = walk(run, this.skill, place);
    this.home.disabled = place === run.start;
    const chance = run.world.chance && place !== run.start ? " (the likeliest steps)" : "";
    this.said.textContent = `Skill ${this.skill} from ${nameOf(run.world, place)}: ends in `
      + `${nameOf(run.world, this.path[this.path.length - 1])}${chance}.`;
    this.at(this.time);
  }

  at(time) {
    this.time = Math.min(time, this.path.length - 1);
    const { picture, path, run } = this, colour = run.colour[this.skill];
    const points = run.points(this.skill);
    if (this.strip) markStrip(this.strip, run, this.time);
    picture.clear();
    picture.frame(run.last[this.skill], { class: `frame ${colour}` });
    picture.start(this.begin);
    if (run.world.form === "list") {
      path.slice(0, this.time + 1).forEach((place) => picture.square(place, { class: "visited" }));
    } else {
      picture.path(path, null, { class: `path ahead ${colour}` }, points);
      picture.path(path.slice(0, this.time + 1), null, { class: `path chosen ${colour}` },
        points && points.slice(0, this.time + 1));
    }
    picture.mark(path[this.time], { class: `agent ${colour}` }, 0.3, points && points[this.time]);
  }
}
