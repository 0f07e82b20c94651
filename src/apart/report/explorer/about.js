// What was run, and how to run it again.

function aboutPart(data) {
  const holder = html("div");
  listen((_, another) => {
    if (!another) return;
    const { run } = state;
    const copied = html("span", { class: "muted", "aria-live": "polite" });
    const copy = button("copy", async () => {
      try {
        await navigator.clipboard.writeText(run.command);
        copied.textContent = "copied";
      } catch {
        copied.textContent = "this browser does not allow it; select the text instead";
      }
    });
    holder.replaceChildren(
      html("h3", {}, "Run it again"),
      run.command ? html("pre", { tabindex: 0 }, html("code", {}, run.command)) : "",
      run.command ? html("div", { class: "bar" }, copy, copied) : "",
      run.command_note ? html("p", { class: "words" }, run.command_note) : "",
      html("h3", {}, "Result"),
      facts([["folder", run.folder], ...Object.entries(run.summary)
        .filter(([name]) => name !== "config_sha256").map(([name, value]) => [name, shown(value)])]),
      html("h3", {}, "Options"),
      facts(Object.entries(run.config).map(([name, value]) => [name, shown(value)])),
      html("h3", {}, "Versions"),
      facts([["page", `apart ${data.version}`], ["run", `apart ${run.summary.version}`],
        ...Object.entries(run.versions)]));
  });
  return part("about", "Configuration", null, holder);
}

function shown(value) {
  if (value === null) return "\u2013";
  return typeof value === "number" ? rounded(value, 7) : String(value);
}
