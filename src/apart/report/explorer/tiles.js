// Small multiples: every skill on a map of its own, sorted by last place.

function tilesPart() {
  const grid = html("div", { class: "tiles", role: "group", "aria-label": "All skills" });
  const count = html("span", { class: "muted" });
  const words = html("span", {}, "Sorted by last place. A dashed tile is repeated (an earlier skill "
    + "ends there) or spare (the same, and every place in reach has a skill).");
  let shown = "all", tiles = new Map();
  const choose = choice([["all", "all skills"], ["owner", "one for each place"],
    ["again", "repeated and spare"]], shown, (value) => { shown = value; rebuild(); });
  const bar = html("div", { class: "bar" }, labelled("Show", choose), count);

  function rebuild() {
    const { run } = state;
    const wanted = run.order.filter((skill) => shown === "all"
      || (shown === "owner") === (run.standing[skill] === "owner"));
    tiles = new Map(wanted.map((skill) => [skill, tile(run, skill)]));
    grid.replaceChildren(...tiles.values());
    words.hidden = bar.hidden = !hasPlaces(run);
    count.textContent = `${wanted.length} of ${run.skills}`;
    select();
  }

  function select() {
    for (const [skill, node] of tiles) node.setAttribute("aria-pressed", skill === state.skill);
  }

  // One stop in the order of focus for all tiles; arrow keys go on from there.
  grid.addEventListener("keydown", (event) => {
    const nodes = [...tiles.values()], at = nodes.indexOf(document.activeElement);
    const across = nodes.findIndex((node) => node.offsetTop > nodes[0].offsetTop);
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -across, ArrowDown: across }[event.key];
    if (at < 0 || !by || !nodes[at + by]) return;
    event.preventDefault();
    nodes[at].tabIndex = -1;
    nodes[at + by].tabIndex = 0;
    nodes[at + by].focus();
  });

  listen((_, another) => (another ? rebuild() : select()));
  return shownWhere((run) => hasPlaces(run) || run.frames !== null,
    part("tiles", "Every skill", words, bar, grid));
}

// A map; where there is neither map nor plane, the last frame of the skill, if it is kept.
function tilePicture(run, skill) {
  const numbers = run.world.form === "map" || run.world.plane ? null : framesOf(run, skill);
  if (numbers) return frame(run, numbers[numbers.length - 1]);
  if (!hasPlaces(run)) return html("span");
  const picture = new Picture(run.world, "");
  picture.node.setAttribute("aria-hidden", "true");
  const path = run.path(skill), lined = run.world.form !== "list";
  if (lined) {
    picture.path(path, null, { class: `path chosen ${run.colour[skill]}` }, run.points(skill));
  } else path.forEach((place) => picture.square(place, { class: "visited" }));
  picture.mark(run.start, { class: "start-dot" }, 0.25);
  picture.frame(run.last[skill], { class: `end ${run.colour[skill]}` });
  return picture.node;
}

function tile(run, skill) {
  const standing = run.standing[skill], mark = standing === "owner" ? "" : ` ${standing}`;
  const first = skill === run.order[0];
  const ends = hasPlaces(run) ? `, ends in ${nameOf(run.world, run.last[skill])}` : "";
  return button([html("span", {}, `${skill}${mark}`), tilePicture(run, skill)], () => change({ skill }), {
    class: `tile ${standing}`, tabindex: first ? 0 : -1,
    "aria-label": `Skill ${skill}${mark}${ends}`,
  });
}
