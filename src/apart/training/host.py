"""Episodes of environments that live in Python; see `worlds.world.HostWorld`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np

from apart._errors import UserError
from apart._types import Array, IntArray
from apart.learner.episodes import Episodes
from apart.training.choices import Drawn
from apart.worlds import guards
from apart.worlds.world import HostWorld

Act = Callable[[Any, Array, Any], Array]  # (observations, skills, choices) [E, ...] -> actions
Look = Callable[[Any, int, Any, Any], None]
# (environments, steps made, [E] who has moved, [E] who goes on), after the reset and every step


class Host:
    """Environments that live in Python; made when first needed, kept until closed.

    With ``films`` they are those that render.
    """

    def __init__(self, world: HostWorld, films: bool = False) -> None:
        self.world = world
        self._make = (world.filmed if films else None) or world.make
        self._made: dict[int, Any] = {}
        self._watch = guards.Watch(world.name, world.timeout)

    def close(self) -> None:
        """End all environments; they are made anew when needed again."""
        self._watch.close()
        made, self._made = list(self._made.values()), {}
        for environments in made:
            with guards.undisturbed(), guards.saying(self.world.name, "close"):
                environments.close()

    def by_host(
        self,
        act: Act,
        drawn: Drawn,
        seeds: list[int],
        hold: int = 1,
        look: Look = lambda *_: None,
    ) -> Episodes:
        """Episodes, all environments side by side; environment e is reset with ``seeds[e]``.

        A decision is held for ``hold`` steps, or until the episode ends. Nothing that an
        environment remembers outlives a call: it begins with a seeded reset. ``look`` sees the
        environments on their way.

        Raises:
            UserError: an environment raises, hangs, or gives what it should not.
        """
        with guards.undisturbed(seeds[0]), self._watch, guards.saying(self.world.name, "step"):
            return self._episodes(act, drawn, seeds, hold, look)

    def _episodes(
        self, act: Act, drawn: Drawn, seeds: list[int], hold: int, look: Look
    ) -> Episodes:
        choice, n_actions = np.asarray(drawn.choice), self.world.about.n_actions
        n, steps = choice.shape[0], hold * choice.shape[1]
        greedy = (choice == n_actions).reshape(n, choice.shape[1], -1).any((0, 2))  # [decisions]
        spec, watch = self.world.obs, self._watch
        environments = self._ready(n)
        seen = np.empty((n, steps + 1, *spec.shape), spec.dtype)
        places = np.empty((n, steps + 1), np.int32)
        over = (choice == n_actions + 1).reshape(n, choice.shape[1], -1).all(2)  # [E, decisions]
        deciding = drawn.deciding
        actions = np.zeros(choice.shape, np.int32)
        taken, ended = np.zeros((2, n, steps), bool)
        watch.on("reset")
        with guards.saying(self.world.name, "reset"):
            obs, info = environments.reset(seed=seeds)
        watch.off()
        seen[:, 0], places[:, 0] = self._checked(obs, n), self._places(obs, info)
        alive, t = np.ones(n, bool), 0
        look(environments, t, alive, alive)
        while t < steps and alive.any():
            now = t // hold
            if t % hold == 0:
                alive = alive & ~over[:, now]
                if not alive.any():
                    break
                actions[:, now] = np.where(choice[:, now] > n_actions, 0, choice[:, now])
                if greedy[now]:
                    skill = drawn.skill if deciding is None else deciding[:, now]
                    actions[:, now] = act(seen[:, t], skill, choice[:, now])
            watch.on("step")
            obs, _, terminated, truncated, info = environments.step(actions[:, now])
            watch.off()
            taken[:, t], ended[:, t] = alive, alive & terminated
            seen[:, t + 1], places[:, t + 1] = self._checked(obs, n), self._places(obs, info)
            if not alive.all():  # after its end an episode stays where it ended
                seen[~alive, t + 1], places[~alive, t + 1] = seen[~alive, t], places[~alive, t]
            moved, alive = alive, alive & ~(terminated | truncated)
            t += 1
            look(environments, t, moved, alive)
        seen[:, t + 1 :], places[:, t + 1 :] = seen[:, t : t + 1], places[:, t : t + 1]
        return Episodes(
            obs=jnp.asarray(seen[:, ::hold]),
            action=jnp.asarray(actions),
            skill=drawn.skill,
            alive=jnp.asarray(taken[:, ::hold]),
            terminated=jnp.asarray(ended.reshape(n, -1, hold).any(axis=2)),
            place=jnp.asarray(places),
            steps=jnp.asarray(taken.sum(axis=1), jnp.int32),
        )

    def _ready(self, n: int) -> Any:
        """N environments, made when they are first asked for."""
        if n not in self._made:
            self._watch.on("making it")
            self._made[n] = self._vector(n)
            self._watch.off()
        return self._made[n]

    def _vector(self, n: int) -> Any:
        """N environments; `UserError` where they are not what the world says."""
        made, name, about = self._make(n), self.world.name, self.world.about
        if getattr(made, "num_envs", None) != n:
            raise UserError(f"{name}: make({n}) must give a Gymnasium vector environment of {n}")
        mode = getattr(made.metadata.get("autoreset_mode"), "name", "NEXT_STEP")
        if mode != "NEXT_STEP":
            raise UserError(f"{name}: make its vector environment with AutoresetMode.NEXT_STEP")
        space = made.single_action_space
        if about.heads == 1:
            fits = getattr(space, "n", None) == about.n_actions
        else:
            each = np.asarray(getattr(space, "nvec", ()))
            fits = each.shape == (about.heads,) and bool((each == about.n_actions).all())
        if not fits:
            heads = f"{about.heads} x " * (about.heads > 1)
            raise UserError(
                f"{name}: About says {heads}{about.n_actions} actions, the environment has "
                f"{getattr(space, 'n', space)}"
            )
        return made

    def _checked(self, obs: Any, n: int) -> Any:
        found = np.asarray(obs)
        spec = self.world.obs
        if found.shape != (n, *spec.shape):
            raise UserError(
                f"{self.world.name}: an observation of shape {found.shape[1:]}, not {spec.shape}"
            )
        if found.dtype.kind == "f" and not np.isfinite(found).all():
            raise UserError(f"{self.world.name}: an observation that is not finite")
        return found

    def _places(self, obs: Any, info: Mapping[str, Any]) -> IntArray:
        places = np.asarray(self.world.place(obs, info))
        if places.shape != (len(obs),) or places.dtype.kind not in "iu":
            raise UserError(
                f"{self.world.name}: place must give a whole number for each of {len(obs)} "
                f"observations, not {places.dtype} {places.shape}"
            )
        return places
