// The page: a header to choose a run, and its parts.

const PARTS = [["skills", "Skills"], ["tiles", "All"], ["play", "Watch"], ["goal", "Goals"],
  ["discriminator", "Rewards"], ["training", "Training"], ["curves", "Curves"],
  ["accuracy", "Accuracy"], ["compare", "Compare"], ["about", "Configuration"]];

function header(data) {
  const title = html("h1"), summary = html("p", { class: "summary" });
  const options = data.groups.map((group) => html("optgroup", { label: group.label },
    group.runs.map((i) => html("option", { value: i }, `${group.label} \u00b7 seed ${data.runs[i].seed}`))));
  const select = html("select", { change: () => change({ run: data.runs[Number(select.value)] }) },
    options);
  listen(() => {
    const { run } = state;
    select.value = String(run.number);
    title.textContent = `${run.method} in ${run.world.name}`;
    document.title = `${title.textContent} \u00b7 apart report`;
    const of = run.group.most === null ? "" : ` of ${rounded(run.group.most)} possible`;
    const how = run.evidence ? ` (${run.evidence})` : "", counted = run.found !== null;
    const count = counted ? `${rounded(run.found)}${of} different ends${how} ` : "";
    summary.replaceChildren(
      run.progress ? html("strong", {}, `${capital(run.progress)}. `) : "",
      `Seed ${run.seed}: ${count}after ${whole(run.summary.env_steps)} steps; `
      + `${run.skills} skills, episodes of ${run.horizon} steps.`
      + (counted ? "" : ` Ends are not counted${how}.`));
  });
  return [html("div", { class: "head" },
    html("div", {}, title, summary),
    html("div", { class: "bar" }, labelled("Run", select), themeButton())),
  html("nav", { "aria-label": "Parts of the page" },
    PARTS.map(([id, text]) => html("a", { href: `#${id}` }, text)))];
}

function themeButton() {
  const root = document.documentElement;
  const dark = () => (root.dataset.theme
    || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const toggle = button("", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    name();
  });
  const name = () => { toggle.textContent = dark() ? "Light" : "Dark"; };
  name();
  return toggle;
}

async function main() {
  const top = document.getElementById("top"), body = document.getElementById("main");
  try {
    const data = await readData();
    top.append(...header(data));
    body.replaceChildren(skillsPart(), tilesPart(), playPart(), goalPart(), judgePart(),
      trainingPart(), curvesPart(data), accuracyPart(data), comparePart(data), aboutPart(data));
    change({ run: data.runs[0] });
    document.documentElement.dataset.ready = "yes";
  } catch (error) {
    body.replaceChildren(html("p", { class: "failed" }, "DecompressionStream" in window
      ? `The page cannot be drawn: ${error.message}` : "This page needs a browser of 2023 or later."));
    throw error;
  }
}

main();
