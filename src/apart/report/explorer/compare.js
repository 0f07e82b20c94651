// Methods side by side: their numbers, and where their skills end.

function comparePart(data) {
  const rows = data.groups.map((group) => {
    const first = data.runs[group.runs[0]], runs = group.runs.map((i) => data.runs[i]);
    const [mean, low, high] = group.found;
    return [group.label, first.world.name, whole(runs.length),
      rounded(mean, 4), low === high ? "\u2013" : `${rounded(low)} to ${rounded(high)}`,
      rounded(group.most), rounded(group.walk), radiusOf(runs), runs.map((run) => rounded(run.found)).join(", "),
      runs.map((run) => whole(run.summary.first_full_at)).join(", "),
      runs.map(stepsOf).filter((steps, i, all) => all.indexOf(steps) === i).join(", "), rounded(meanOf(runs.map((run) => run.summary.wall_seconds)))];
  });
  const maps = data.groups.map((group) => [data.runs[group.runs[0]], group])
    .filter(([run]) => hasPlaces(run)).map(([run, group]) => endsMap(run, group));
  return part("compare", "Side by side", null,
    table(["method", "world", "seeds", "different ends", "95 % interval", "possible", "random walk",
      "covering radius", "each seed", "complete after", "steps", "seconds"], rows),
    maps.length > 0 && html("p", { class: "words" }, "Each map shows how many skills of the first seed "
      + "end in each place. Click a map to open its run above."),
    html("div", { class: "side-by-side" }, maps));
}

function meanOf(numbers) {
  return numbers.reduce((sum, n) => sum + n, 0) / numbers.length;
}

// Of an unfinished run also how many it is to make.
function stepsOf(run) {
  const made = whole(run.summary.env_steps);
  return run.progress ? `${made} of ${whole(run.config.steps)}` : made;
}

// Most steps from the nearest end to a place, of each seed; where a table says so.
function radiusOf(runs) {
  return runs.map((run) => rounded(run.summary["spread radius"])).join(", ");
}

function endsMap(run, group) {
  const picture = new Picture(run.world, "");
  picture.node.setAttribute("aria-hidden", "true");
  for (const [place, skills] of run.ends) {
    picture.square(place, { class: "plus", "fill-opacity": Math.min(0.25 + 0.2 * skills.length, 1) });
    if (picture.roomy) picture.text(place, skills.length);
  }
  picture.start(run.start);
  return button([html("span", {}, `${group.label}: ${rounded(run.found)}`), picture.node],
    () => {
      change({ run });
      document.getElementById("skills").scrollIntoView();
    }, { class: "tile", "aria-label": `Open ${group.label}, seed ${run.seed}` });
}
