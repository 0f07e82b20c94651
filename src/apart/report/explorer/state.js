// What the reader chose: one run, one skill. Parts of the page listen and draw themselves anew.

const state = { run: null, skill: 0 };
const listeners = [];

function listen(listener) {
  listeners.push(listener);
}

// Words for worlds in which skills can begin anywhere, and for those in which they cannot.
function wordsFor(anywhere, else_) {
  const node = html("span");
  listen(() => { node.textContent = canWalk(state.run) ? anywhere : else_; });
  return node;
}

// A part that says nothing of some runs: hidden there, with its link above.
function shownWhere(holds, section) {
  listen(() => {
    section.hidden = !holds(state.run);
    document.querySelector(`nav a[href="#${section.id}"]`).hidden = section.hidden;
  });
  return section;
}

const hasPlaces = (run) => run.world.counted;

// Takes what changes; listeners get the state and whether the run is another one.
function change(changed) {
  const another = "run" in changed && changed.run !== state.run;
  Object.assign(state, changed);
  if (another) state.skill = Math.min(state.skill, state.run.skills - 1);
  for (const listener of listeners) listener(state, another);
}
