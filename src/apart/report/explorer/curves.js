// Measures over training, and the accuracy of the discriminator by step of the episode.

const MEASURES = {
  n_effective: "distinct last places",
  coverage: "coverage: share of the places in reach",
  covering_radius: "covering radius: steps from the farthest place to the nearest end",
  discriminator_accuracy: "accuracy of the discriminator",
  mean_reward: "mean reward",
  mean_last_reward: "mean reward at the last step",
  mutual_information: "mutual information, bits",
  information_count: "information count (DISDAIN)",
};

function curvesPart(data) {
  const holder = html("div"), select = html("div", { class: "bar" });
  let measure = "n_effective", drawn = null;

  function draw() {
    const spec = curveSpec(drawn, measure);
    holder.replaceChildren(chart(spec), numbersOf(spec));
  }

  // Curves of one world only: what is possible differs between worlds.
  listen(() => {
    const groups = sameWorld(data, state.run);
    if (drawn && groups[0] === drawn[0]) return;
    drawn = groups;
    const names = measuresOf(groups);
    if (!names.includes(measure)) [measure] = names;
    select.replaceChildren(labelled("Measure", choice(
      names.map((name) => [name, MEASURES[name] || name]), measure, (value) => {
        measure = value;
        draw();
      })));
    if (names.length) draw();
  });
  return part("curves", "Learning curves", "Means over the seeds of this world. The band is the "
    + "95 % confidence interval of the mean (Student's t); a single seed has none.", select, holder);
}

function sameWorld(data, run) {
  return data.groups.filter((group) => data.runs[group.runs[0]].world.name === run.world.name);
}

// Those that are stored: first the ones that this page can name.
function measuresOf(groups) {
  const stored = new Set(groups.flatMap((group) => Object.keys(group.curves)));
  if (groups.some(coverageOf)) stored.add("coverage");
  const known = Object.keys(MEASURES).filter((name) => stored.has(name));
  return known.concat([...stored].filter((name) => !(name in MEASURES) && !SILENT.has(name)));
}

const SHARES = new Set(["coverage", "discriminator_accuracy"]);
const SILENT = new Set(["updates", "wall_seconds", "env_steps", "n_available"]);

function coverageOf(group) {
  const counts = group.curves.n_effective;
  return counts && group.most ? { x: counts.x, ...Object.fromEntries(["estimate", "low", "high"]
    .map((name) => [name, counts[name].map((n) => n / group.most)])) } : null;
}

function curveSpec(groups, measure) {
  const series = groups.map((group) => ({ label: group.label,
    ...(measure === "coverage" ? coverageOf(group) : group.curves[measure]) }))
    .filter((one) => one.x);
  const levels = [];
  if (measure === "n_effective") {
    for (const [name, part_] of [["possible", "most"], ["random walk", "walk"]]) {
      const values = groups.map((group) => group[part_]).filter((n) => n !== null);
      for (const y of new Set(values)) levels.push({ label: name, y });
    }
  } else if (measure === "coverage") {
    levels.push({ label: "all", y: 1 });
  } else if (measure === "covering_radius") {
    const values = groups.map((group) => group.ideal_radius).filter((n) => n !== null);
    for (const y of new Set(values)) levels.push({ label: "greedy k-center", y });
  }
  const share = SHARES.has(measure);
  return { series, levels, share, across: "environment steps", up: MEASURES[measure] || measure,
    name: `${MEASURES[measure] || measure} over training` };
}

function accuracyPart(data) {
  const holder = html("div");
  let drawn = null;
  listen(() => {
    const groups = sameWorld(data, state.run);
    if (drawn && groups[0] === drawn[0]) return;
    drawn = groups;
    const series = groups.filter((group) => group.accuracy)
      .map((group) => ({ label: group.label, ...group.accuracy }));
    const spec = { series, levels: [], share: true, across: "step of the episode", up: "accuracy",
      name: "Accuracy of the discriminator by step of the episode" };
    holder.replaceChildren(...(series.length ? [chart(spec), numbersOf(spec)]
      : ["Not stored in these folders."]));
  });
  return part("accuracy", "Accuracy per step", "Share of skills that are identified correctly from the "
    + "place after each step of the episode, in the last evaluation that stored it.", holder);
}
