// Skills as a library: click a goal, and the skill for it walks there.

function goalPart() {
  const panel = html("div", { class: "panel" });
  const said = html("div", { class: "said", "aria-live": "polite" });
  const total = html("p", { class: "words" });
  const sets = html("div", { class: "bar" });
  let picture = null, goal = 0, start = 0, setting = "goal";
  const home = button("back to the start", () => { start = state.run.start; draw(); });
  const radio = (value, text) => {
    const input = html("input", { type: "radio", name: "sets", value,
      change: () => { setting = value; } });
    input.checked = value === setting;
    return html("label", { class: "check" }, input, text);
  };
  sets.append(html("span", { class: "muted" }, "A click sets the"), radio("goal", "goal"),
    radio("start", "place to begin"), home);

  function setGoal() {
    setting = "goal";
    for (const input of sets.querySelectorAll("input")) input.checked = input.value === setting;
  }

  function pick(place) {
    if (setting === "goal") goal = place;
    else start = place;
    draw();
  }

  function draw() {
    const { run } = state, { world } = run;
    picture.clear();
    picture.start(start);
    home.disabled = start === run.start;
    picture.frame(goal, { class: "frame goal" });
    if (start !== run.start && !canWalk(run)) {
      said.replaceChildren(run.policy_note || world.note);
      return;
    }
    const found = skillFor(run, goal, start);
    if (!found) {
      said.replaceChildren(verdict(false), facts([["goal", nameOf(world, goal)],
        ["from", nameOf(world, start)], ["skill", "none reaches it"]]));
      return;
    }
    const { skill } = found, path = walk(run, skill, start), end = path[path.length - 1];
    const colour = run.colour[skill], first = path.indexOf(goal);
    if (world.form === "list") path.forEach((p) => picture.square(p, { class: "visited" }));
    else picture.path(path, null, { class: `path chosen ${colour}` }, run.points(skill));
    const points = run.points(skill);
    picture.mark(end, { class: `agent ${colour}` }, 0.22, points && points[points.length - 1]);
    said.replaceChildren(verdict(world.chance ? found.comes >= 0.5 : first >= 0), facts([
      ["goal", nameOf(world, goal)],
      ["from", nameOf(world, start)],
      ["skill", skill],
      first >= 0 && ["reached after", `${first} step${first === 1 ? "" : "s"}`],
      ["ends in", nameOf(world, end)],
      world.chance && canWalk(run) && ["reaches it", `with probability ${percent(found.comes)}`],
      world.chance && canWalk(run) && ["ends there", `with probability ${percent(found.ends)}`],
    ]), button("watch this skill", () => {
      change({ skill });
      document.getElementById("play").scrollIntoView();
    }));
  }

  listen((_, another) => {
    if (!another) return;
    const { run } = state;
    goal = run.last[run.order[run.order.length - 1]];
    start = run.start;
    picture = new Picture(run.world, "Goals. Arrow keys move, Enter picks.", pick);
    panel.replaceChildren(picture.node);
    sets.hidden = !canWalk(run);
    if (sets.hidden) setGoal();
    const pairs = reachedPairs(run);
    total.textContent = pairs === null ? "" : "Some skill reaches the goal in "
      + `${whole(pairs.comes)} of all ${whole(pairs.pairs)} pairs of a start and a goal `
      + `(${tenths(pairs.comes / pairs.pairs)} %) and ends there in ${whole(pairs.ends)} `
      + `(${tenths(pairs.ends / pairs.pairs)} %).`;
    draw();
  });
  return shownWhere(hasPlaces, part("goal", "Go to a goal", wordsFor("Click a goal. The page picks the skill that is "
    + "most likely to reach it, as apart reach does. In training every episode began at the start: "
    + "other places to begin show how well skills generalise.", "Click a goal. The page picks a "
    + "skill that reached it in the last evaluation."),
  sets, html("div", { class: "beside" }, panel, html("div", { class: "side" }, said, total))));
}

// Per cent, rounded down: what is not all is not called 100.0.
function tenths(share) {
  return (Math.floor(1000 * share) / 10).toFixed(1);
}

function verdict(reached) {
  return html("p", { class: reached ? "verdict yes" : "verdict no" },
    reached ? "\u2713 reached" : "\u2717 not reached");
}
