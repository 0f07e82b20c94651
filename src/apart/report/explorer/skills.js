// All skills on one map; a click on a place gives the skill that owns it, and its path.

const STANDINGS = {
  owner: "the first skill that ends there",
  repeated: "repeated: an earlier skill ends there, and other places have none",
  spare: "spare: an earlier skill ends there, and every place in reach has one",
};

function skillsPart() {
  const panel = html("div", { class: "panel" });
  const side = html("div", { class: "side" });
  const said = html("p", { class: "said", "aria-live": "polite" });
  const number = html("div");
  const details = html("div");
  let all = true, picture = null, control = null;
  side.append(number, checkbox("show the paths of all skills", all, (on) => { all = on; draw(); }),
    said, details);

  function pick(place) {
    const skills = state.run.ends.get(place);
    if (skills) change({ skill: skills[0] });
    said.textContent = skills
      ? `Skill ${skills[0]} ends in ${nameOf(state.run.world, place)}.`
      : `No skill ends in ${nameOf(state.run.world, place)}.`;
  }

  function draw() {
    const { run, skill } = state;
    picture.clear();
    const lined = run.world.form !== "list";
    if (all && lined) {
      for (const other of run.order) {
        picture.path(run.path(other), other, { class: `path faint ${run.colour[other]}` },
          run.points(other));
      }
    }
    const path = run.path(skill);
    if (lined) {
      picture.path(path, null, { class: `path chosen ${run.colour[skill]}` }, run.points(skill));
    } else path.forEach((place) => picture.square(place, { class: "visited" }));
    for (const [place, skills] of run.ends) {
      const owner = skills[0];
      if (picture.roomy) picture.text(place, owner, { class: `inside ${run.colour[owner]}` });
      else picture.mark(place, { class: `dot ${run.colour[owner]}` });
    }
    picture.start(run.start);
    picture.frame(run.last[skill], { class: `frame ${run.colour[skill]}` });
    control.show(skill);
    details.replaceChildren(facts(aboutSkill(run, skill)));
  }

  function rebuild() {
    const { run } = state;
    picture = new Picture(run.world, "All skills on the map. Arrow keys move, Enter picks the "
      + "skill that ends there.", pick);
    panel.replaceChildren(picture.node);
    control = stepper("Skill", state.skill, run.skills - 1, (skill) => change({ skill }));
    number.replaceChildren(control.node);
    said.textContent = run.world.note;
  }

  listen((_, another) => { if (another) rebuild(); draw(); });
  return shownWhere(hasPlaces, part("skills", "Skills on the map",
    "Each line is the path of one skill, and each number stands where that skill ends. Click a "
    + "place to choose the skill that ends there. The ring is the start.",
    html("div", { class: "beside" }, panel, side)));
}

function aboutSkill(run, skill) {
  const { world } = run, last = run.last[skill], path = run.path(skill);
  const others = run.ends.get(last).filter((other) => other !== skill);
  const standing = run.standing[skill];
  return [
    ["ends in", nameOf(world, last)],
    run.observed && !world.names && ["observed there", run.observed[skill]],
    ["posterior there", rounded(run.probability[skill])],
    run.certainty[skill] < 1 && ["certainty", `${percent(run.certainty[skill])} of its episodes`],
    ["arrives after", `${arrival(path)} of ${path.length - 1} steps`],
    run.task && ["earns", `${run.task.returns[skill]} of ${run.task.best} points of the task`],
    ["standing", STANDINGS[standing]],
    others.length > 0 && ["ends there too", listed(others, 12)],
  ];
}

function listed(numbers, most) {
  const more = numbers.length - most;
  return numbers.slice(0, most).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

// Steps until the path does not move any more.
function arrival(path) {
  let t = path.length - 1;
  while (t > 0 && path[t - 1] === path[path.length - 1]) t -= 1;
  return t;
}
