// A skill in every place: its posterior, its reward, and the rival that competes for the place.

const VIEWS = [["posterior", "posterior q(skill | place)"], ["reward", "intrinsic reward"],
  ["rival", "strongest rival"]];

function judgePart() {
  const panel = html("div", { class: "panel" });
  const side = html("div", { class: "side" });
  const number = html("span");
  const details = html("div", { "aria-live": "polite" });
  const scale = html("p", { class: "scale" });
  const heading = html("span");
  let picture = null, control = null, view = "posterior", place = null;
  const bar = html("div", { class: "bar" }, number,
    labelled("Show", choice(VIEWS, view, (value) => { view = value; draw(); })));
  side.append(scale, details);

  function draw() {
    const { run, skill } = state;
    if (control) control.show(skill);
    picture.clear();
    details.replaceChildren();
    panel.hidden = bar.hidden = !run.policy;
    heading.textContent = run.policy ? run.policy.heading : "Rewards";
    if (!run.policy) {
      scale.textContent = run.policy_note;
      return;
    }
    drawView(picture, run, skill, view);
    scale.replaceChildren(...legend(run, view));
    picture.frame(run.last[skill], { class: `frame ${run.colour[skill]}` });
    const at = place === null ? run.last[skill] : place;
    details.append(facts(judged(run, skill, at)));
  }

  listen((_, another) => {
    const { run } = state;
    if (another) {
      place = null;
      picture = new Picture(run.world, "Posterior, reward or rival of the skill in every place. "
        + "Arrow keys move, Enter shows the numbers of a place.", (p) => { place = p; draw(); });
      panel.replaceChildren(picture.node);
      control = stepper("Skill", state.skill, run.skills - 1, (skill) => change({ skill }));
      number.replaceChildren(control.node);
    }
    draw();
  });
  return shownWhere((run) => run.policy || run.policy_note, part("discriminator", heading,
    "Posterior: how strongly a place points to the skill. Reward: what the skill earns there. "
    + "Rival: the other skill that competes most for the place. Click a place for its numbers.",
    bar, html("div", { class: "beside" }, panel, side)));
}

function drawView(picture, run, skill, view) {
  const most = Math.max(...run.policy.reward_range.map(Math.abs)) || 1;
  for (let place = 0; place < run.world.n; place += 1) {
    if (view === "posterior") {
      const p = posterior(run, place, skill);
      if (p > 0) picture.square(place, { class: "plus", "fill-opacity": p });
    } else if (view === "reward") {
      const r = reward(run, place, skill);
      picture.square(place, { class: r < 0 ? "minus" : "plus", "fill-opacity": Math.abs(r) / most });
    } else {
      const other = rival(run, place, skill);
      picture.square(place, { class: `fill ${run.colour[other]}`,
        "fill-opacity": 0.75 * posterior(run, place, other) });
      if (picture.roomy) picture.text(place, other);
    }
  }
}

function legend(run, view) {
  const swatch = (name) => html("span", { class: `swatch ${name}`, "aria-hidden": "true" });
  if (view === "posterior") return [swatch("plus"), "1 (this skill for certain); empty: 0"];
  if (view === "reward") {
    const [low, high] = run.policy.reward_range;
    return [swatch("plus"), `above 0 (at most ${rounded(high)}) `, swatch("minus"),
      `below 0 (at least ${rounded(low)})`];
  }
  return ["The number is the other skill that competes most for the place; the fuller its colour, "
    + "the larger its posterior."];
}

function judged(run, skill, place) {
  const other = rival(run, place, skill);
  return [
    ["place", nameOf(run.world, place)],
    ["posterior", rounded(posterior(run, place, skill), 2)],
    ["reward", rounded(reward(run, place, skill), 2)],
    ["rival", `skill ${other} (posterior ${rounded(posterior(run, place, other), 2)})`],
  ];
}
