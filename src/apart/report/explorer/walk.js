// What skills do: their policies, in worlds whose states are listed.

// What `skill` does in a state after `t` steps; null once it is over, where it is a chain of skills
// that decide in turn.
function actionOf(run, state, skill, t) {
  const { acts } = run.policy;
  const decides = acts ? acts[skill * acts.shape[1] + Math.floor(t / run.hold)] : skill;
  return decides < run.skills ? run.policy.action[state * run.skills + decides] : null;
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
  let action = 0;
  for (let t = 0; t < run.horizon; t += 1) {
    if (t % run.hold === 0) action = actionOf(run, states[t], skill, t);
    states.push(action === null ? states[t] : likeliest(run.world, states[t], action));
  }
  return states;
}

function canWalk(run) {
  return Boolean(run.policy && run.world.next);
}

// The probabilities that `skill` comes to `goal` in an episode from `start`, and that it is there
// at the end; exact where states are listed, else of the stored path.
function arrivals(run, skill, start, goal) {
  if (!canWalk(run) || !run.world.chance) {
    const path = walk(run, skill, start);
    return { comes: Number(path.includes(goal)), ends: Number(path[path.length - 1] === goal) };
  }
  return {
    comes: propagated(run, skill, start, goal, true),
    ends: propagated(run, skill, start, goal, false),
  };
}

function propagated(run, skill, start, goal, stays) {
  let now = new Map([[start, 1]]);
  for (let t = 0; t < run.horizon; t += run.hold) {
    const after = new Map();
    for (const [state, p] of now) {
      const action = actionOf(run, state, skill, t);
      for (const [end, q] of afterHolding(run, state, action, stays ? goal : null)) {
        after.set(end, (after.get(end) || 0) + p * q);
      }
    }
    now = after;
  }
  return now.get(goal) || 0;
}

// Where an action leads that is taken for as long as decisions are held; `trap` is not left.
function afterHolding(run, state, action, trap) {
  if (action === null) return [[state, 1]];
  let now = new Map([[state, 1]]);
  for (let n = 0; n < run.hold; n += 1) {
    const after = new Map();
    for (const [here, p] of now) {
      const ways = here === trap ? [[here, 1]] : successors(run.world, here, action);
      for (const [next, q] of ways) if (q > 0) after.set(next, (after.get(next) || 0) + p * q);
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

// The skill for a goal, as `apart reach` picks it: the one that comes there most surely within an
// episode; of equals one that ends there. Where that is much work only those that end there count.
function skillFor(run, goal, start) {
  const much = run.world.chance && run.skills * run.horizon * run.world.n > 2e6;
  const among = much ? run.ends.get(goal) || [] : Array.from({ length: run.skills }, (_, z) => z);
  let best = null;
  for (const skill of among) {
    const { comes, ends } = arrivals(run, skill, start, goal);
    const better = !best || comes > best.comes || (comes === best.comes && ends > best.ends);
    if (better) best = { skill, comes, ends };
  }
  return best && best.comes > 0 ? best : null;
}

// In how many (start, goal) pairs some skill comes to the goal, and ends there; null where that is
// much work or left to chance.
function reachedPairs(run) {
  const { n, chance } = run.world;
  if (!canWalk(run) || chance || n * run.skills * run.horizon > 3e7) return null;
  const comes = new Uint8Array(n * n), ends = new Uint8Array(n * n);
  for (let skill = 0; skill < run.skills; skill += 1) {
    for (let start = 0; start < n; start += 1) {
      let state = start, action = 0;
      comes[start * n + start] = 1;
      for (let t = 0; t < run.horizon; t += 1) {
        if (t % run.hold === 0) action = actionOf(run, state, skill, t);
        if (action === null) break;
        state = run.world.next[state * run.world.next.shape[1] + action];
        comes[start * n + state] = 1;
      }
      ends[start * n + state] = 1;
    }
  }
  const sum = (marks) => marks.reduce((total, mark) => total + mark, 0);
  return { comes: sum(comes), ends: sum(ends), pairs: n * n };
}
