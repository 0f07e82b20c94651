// What skills do: their policies, in worlds whose states are listed.

function actionOf(run, state, skill) {
  return run.policy.action[state * run.skills + skill];
}

// States that may follow, with their chances.
function successors(world, state, action) {
  const [, actions, count] = world.next.shape;
  const first = (state * actions + action) * count;
  return Array.from({ length: count }, (_, i) =>
    [world.next[first + i], world.chance ? world.chance[first + i] : 1]);
}

function likeliest(world, state, action) {
  const chances = new Map();
  for (const [next, p] of successors(world, state, action)) {
    chances.set(next, (chances.get(next) || 0) + p);
  }
  return [...chances].reduce((best, one) => (one[1] > best[1] ? one : best))[0];
}

// An episode of `skill` from `start`: as stored from the world's own start, else step by step.
function walk(run, skill, start) {
  if (start === run.start || !canWalk(run)) return run.path(skill);
  const states = [start];
  for (let t = 0; t < run.horizon; t += 1) {
    const state = states[t];
    states.push(likeliest(run.world, state, actionOf(run, state, skill)));
  }
  return states;
}

function canWalk(run) {
  return Boolean(run.policy && run.world.next);
}

// The probability of each last state of `skill` from `start`, exact.
function lastChances(run, skill, start) {
  let now = new Map([[start, 1]]);
  for (let t = 0; t < run.horizon; t += 1) {
    const after = new Map();
    for (const [state, p] of now) {
      for (const [next, q] of successors(run.world, state, actionOf(run, state, skill))) {
        if (q > 0) after.set(next, (after.get(next) || 0) + p * q);
      }
    }
    now = after;
  }
  return now;
}

function posterior(run, state, skill) {
  return run.policy.posterior[state * run.skills + skill] / 255;
}

function reward(run, state, skill) {
  const [low, high] = run.policy.reward_range;
  return low + (high - low) * run.policy.reward[state * run.skills + skill] / 255;
}

function rival(run, state, skill) {
  return run.policy.rival[state * run.skills + skill];
}

// The skill for a goal: of those that end there the one that the discriminator knows best; where
// none does, the one that it names there.
function skillFor(run, goal) {
  if (run.ends.has(goal)) return { skill: run.ends.get(goal)[0], owns: true };
  if (!run.policy) return null;
  let best = 0;
  for (let skill = 1; skill < run.skills; skill += 1) {
    if (posterior(run, goal, skill) > posterior(run, goal, best)) best = skill;
  }
  return { skill: best, owns: false };
}

// In how many (start, goal) pairs the skill of the goal ends there; null where that is much work.
function reachedPairs(run) {
  const { n, chance } = run.world;
  if (!canWalk(run) || chance || n * n * run.horizon > 3e7) return null;
  let reached = 0;
  for (let goal = 0; goal < n; goal += 1) {
    const { skill } = skillFor(run, goal);
    // All starts at once: where each state leads in one step, T times.
    const next = Array.from({ length: n }, (_, s) =>
      likeliest(run.world, s, actionOf(run, s, skill)));
    for (let start = 0; start < n; start += 1) {
      let state = start;
      for (let t = 0; t < run.horizon; t += 1) state = next[state];
      if (state === goal) reached += 1;
    }
  }
  return { reached, pairs: n * n };
}
