// Measures over training, and the accuracy of the discriminator by step of the episode.

const MEASURES = {
  n_effective: "distinct last places",
  coverage: "coverage: share of the places in reach",
  covering_radius: "covering radius: steps to the nearest end, at most",
  discriminator_accuracy: "accuracy of the discriminator",
  mean_reward: "mean reward",
  mean_last_reward: "mean reward at the last step",
  mutual_information: "mutual information, bits",
  information_count: "information count (DISDAIN)",
};

function curvesPart(data) {
  const holder = html("div");
  const known = [...new Set(data.groups.flatMap((group) => Object.keys(group.curves)))];
  const names = known.filter((name) => name in MEASURES)
    .concat(known.filter((name) => !(name in MEASURES) && !SILENT.has(name)));
  if (data.groups.some(coverageOf)) names.splice(1, 0, "coverage");
  let measure = names[0];

  function draw() {
    const spec = curveSpec(data, measure);
    holder.replaceChildren(chart(spec), numbersOf(spec));
  }

  const select = choice(names.map((name) => [name, MEASURES[name] || name]), measure, (value) => {
    measure = value;
    draw();
  });
  if (names.length) draw();
  return part("curves", "Learning curves", "Means over seeds; the band is the 95 % interval of the "
    + "mean (Student's t; one seed has none).",
  html("div", { class: "bar" }, labelled("Measure", select)), holder);
}

const SILENT = new Set(["updates", "wall_seconds", "env_steps", "n_available"]);

function coverageOf(group) {
  const counts = group.curves.n_effective;
  return counts && group.most ? { x: counts.x, ...Object.fromEntries(["estimate", "low", "high"]
    .map((name) => [name, counts[name].map((n) => n / group.most)])) } : null;
}

function curveSpec(data, measure) {
  const series = data.groups.map((group) => ({ label: group.label,
    ...(measure === "coverage" ? coverageOf(group) : group.curves[measure]) }))
    .filter((one) => one.x);
  const levels = [];
  if (measure === "n_effective") {
    for (const [name, part_] of [["possible", "most"], ["random walk", "walk"]]) {
      const values = data.groups.map((group) => group[part_]).filter((n) => n !== null);
      for (const y of new Set(values)) levels.push({ label: name, y });
    }
  } else if (measure === "coverage") {
    levels.push({ label: "all", y: 1 });
  }
  return { series, levels, across: "environment steps", up: MEASURES[measure] || measure,
    name: `${MEASURES[measure] || measure} over training` };
}

function accuracyPart(data) {
  const series = data.groups.filter((group) => group.accuracy)
    .map((group) => ({ label: group.label, ...group.accuracy }));
  const words = "Share of skills that the discriminator names right from the place after each step "
    + "of the episode, at the end of training.";
  if (!series.length) return part("accuracy", "Accuracy per step", "Not stored in these folders.");
  const spec = { series, levels: [], across: "step of the episode", up: "accuracy",
    name: "Accuracy of the discriminator by step of the episode" };
  return part("accuracy", "Accuracy per step", words, chart(spec), numbersOf(spec));
}
