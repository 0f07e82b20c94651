// Skills as a library: click a goal, and the skill for it walks there.

function goalPart() {
  const panel = html("div", { class: "panel" });
  const said = html("div", { class: "said", "aria-live": "polite" });
  const total = html("p", { class: "words" });
  const sets = html("div", { class: "bar" });
  let picture = null, goal = 0, start = 0, setting = "goal";
  const home = button("start again from the start", () => { start = state.run.start; draw(); });
  const radio = (value, text) => {
    const input = html("input", { type: "radio", name: "sets", value,
      change: () => { setting = value; } });
    input.checked = value === setting;
    return html("label", { class: "check" }, input, text);
  };
  sets.append(html("span", { class: "muted" }, "A click sets the"), radio("goal", "goal"),
    radio("start", "place to begin"), home);

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
    const found = skillFor(run, goal);
    if (!found || (start !== run.start && !canWalk(run))) {
      said.replaceChildren(found ? run.policy_note || world.note
        : `No skill ends in ${nameOf(world, goal)}.`);
      return;
    }
    const { skill, owns } = found, path = walk(run, skill, start);
    const end = path[path.length - 1], arrived = end === goal;
    if (world.form === "list") path.forEach((p) => picture.square(p, { class: "visited" }));
    else picture.path(path, null, { class: `path chosen ${run.colour[skill]}` });
    picture.mark(end, { class: `agent ${run.colour[skill]}` });
    said.replaceChildren(
      html("p", { class: arrived ? "verdict yes" : "verdict no" },
        arrived ? "\u2713 reached" : passes(path, goal) ? "\u2717 passed through, not reached at the end"
          : "\u2717 not reached"),
      facts([
        ["goal", nameOf(world, goal)],
        ["skill", `${skill} ${owns ? "(ends there)" : "(none ends there; the likeliest)"}`],
        ["from", nameOf(world, start)],
        ["ends in", `${nameOf(world, end)} after ${arrival(path)} steps`],
        world.chance && canWalk(run) && ["probability",
          `${percent(lastChances(run, skill, start).get(goal) || 0)} to end there`],
      ]),
      button("watch this skill", () => {
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
    const pairs = reachedPairs(run);
    total.textContent = pairs === null ? "" : "From every place to every goal: "
      + `${whole(pairs.reached)} of ${whole(pairs.pairs)} reached `
      + `(${(100 * pairs.reached / pairs.pairs).toFixed(1)} %).`;
    draw();
  });
  return part("goal", "Go to a goal", "Click a goal. The skill for a goal is the one that ends there from the "
    + "start. From elsewhere nothing was trained for: see how far it generalizes.",
  sets, html("div", { class: "beside" }, panel, html("div", { class: "side" }, said, total)));
}

function passes(path, goal) {
  return path.includes(goal);
}
