"""The search of tuning: from the settings of now along one axis after the other, while it helps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import NamedTuple

from nestling.errors import SettingError
from nestling.measure.bootstrap import Values, paired
from nestling.measure.candidates import Candidate, axes, whole
from nestling.measure.objective import Asked, scores
from nestling.measure.state import Outcome
from nestling.measure.trials import OutOfTime, Trials
from nestling.measure.tuned import Standing, Tried, decided

# The search moves to a candidate that is better in this share of resamples of the tuning questions.
LIKELY = 0.8
# Times the axes are gone through, at most.
ROUNDS = 3
# From this mean score on there is nothing left to find.
PERFECT = 1 - 1e-9
# What the last trial is given of the time, over what the questions took so far.
SPARE = 1.3


class TuneProgress(NamedTuple):
    """How far tuning is.

    Attributes:
        tried: Candidates done.
        left: About how many are to come in this round.
        now: The candidate that is being asked: what of it is other than now.
        asked: Questions it was asked.
        of: Questions in all.
        seconds: About how long it will take, at most.
        best: The best mean score so far.
    """

    tried: int
    left: int
    now: str
    asked: int
    of: int
    seconds: float
    best: float


class Halves(NamedTuple):
    """Questions that choose and questions that decide, each in an order that has nothing to do with them."""

    tuning: tuple[Asked, ...]
    held_out: tuple[Asked, ...]


def halves(questions: Sequence[Asked]) -> Halves:
    """Divide questions by the hash of their ids: a question stays in its half whatever others come and go."""
    ranked = sorted((_digest(asked.question.id), n, asked) for n, asked in enumerate(questions))
    return Halves(
        tuple(asked for digest, _, asked in ranked if not digest[-1] & 1),
        tuple(asked for digest, _, asked in ranked if digest[-1] & 1),
    )


def _digest(id: str) -> bytes:
    return blake2b(id.encode("utf-8", "surrogatepass"), digest_size=8).digest()


@dataclass
class Search:
    """A walk from the settings of now along the axes, by the tuning half; then what the held-out half says.

    Attributes:
        trials: Runs candidates.
        base: The settings of now.
        half: The questions.
        packing: Whether any of them has spans.
        progress: Called after every step of questions.
        gate: How many questions will be asked for the gate.
        best: Where the walk stands.
        tried: Every candidate but that of now, in order, by its key.
        tuned: Outcomes on the tuning half, by the candidate's key.
        held: Outcomes on the held-out half, likewise.
        to_come: Candidates to come in this round, about.
    """

    trials: Trials
    base: Candidate
    half: Halves
    packing: bool
    progress: Callable[[TuneProgress], None] | None
    gate: int = 0
    tried: dict[str, Tried] = field(default_factory=dict)
    tuned: dict[str, list[Outcome]] = field(default_factory=dict)
    held: dict[str, list[Outcome]] = field(default_factory=dict)
    to_come: int = 0

    def __post_init__(self) -> None:
        self.best = self.base
        self.trials.tell = self._tell

    def measure_base(self) -> None:
        """Ask the settings of now both halves.

        Raises:
            SettingError: The time was over before.
        """
        try:
            self.tuned[self.base.key] = self.trials.run(self.base, self.half.tuning)
            self._decide_on(self.base)
        except OutOfTime:
            raise SettingError(
                "the time was over before the settings of now were measured; give more minutes, or fewer questions"
            ) from None

    def walk(self) -> bool:
        """Go along the axes until a round finds nothing better; returns whether time sufficed."""
        try:
            cards = whole(self.base)
            if cards.key != self.base.key:
                self._try(cards, to_the_end=True)
                self._decide_on(cards)
            starts = [candidate for candidate in (cards, Candidate()) if candidate.key != self.base.key]
            self._step(starts)
            for _ in range(ROUNDS):
                if not self._round():
                    return True
        except OutOfTime:
            return False
        return True

    def _round(self) -> bool:
        begin = self.best
        names = [axis.name for axis in axes(self.best, self.base.recipe, self.packing)]
        for done, name in enumerate(names):
            now = {axis.name: axis for axis in axes(self.best, self.base.recipe, self.packing)}
            self.to_come = sum(
                candidate.key not in self.tuned
                for later in names[done:]
                if later in now
                for candidate in now[later].candidates
            )
            if name in now and self._scores(self.best).mean() < PERFECT:
                self._step(now[name].candidates)
        return self.best != begin

    def _step(self, candidates: Sequence[Candidate]) -> None:
        """Try candidates, and go to the one with the highest score if that is likely no accident."""
        full = [candidate for candidate in candidates if self._try(candidate)]
        if full:
            first = max(full, key=lambda candidate: self._scores(candidate).mean())
            if paired(self._scores(self.best), self._scores(first)).better >= LIKELY:
                self.best = first

    def _try(self, candidate: Candidate, to_the_end: bool = False) -> bool:
        """Ask a candidate the tuning half, unless it was; returns whether it was asked to the end."""
        if candidate.key not in self.tuned:
            self._reserve()
            self.trials.keep(self.best.recipe)
            rival = None if to_the_end else self._scores(self.best)
            found = self.trials.run(candidate, self.half.tuning, rival)
            self.tuned[candidate.key] = found
            given_up = len(found) < len(self.half.tuning)
            score = float(scores(found).mean())
            self.tried[candidate.key] = Tried(candidate.told(self.base), score, len(found), given_up)
            self.to_come = max(0, self.to_come - 1)
        return len(self.tuned[candidate.key]) == len(self.half.tuning)

    def _decide_on(self, candidate: Candidate) -> None:
        self.held[candidate.key] = self.trials.run(candidate, self.half.held_out)

    def _reserve(self) -> None:
        """Hold back the time that asking the best candidate the held-out half, and the gate, will take."""
        asking = self.trials.seconds_each * (len(self.half.held_out) + self.gate)
        self.trials.deadline.reserved = SPARE * (asking + self.trials.seconds_to_build)

    def standings(self) -> tuple[Standing, ...]:
        """Now, the whole cards, the defaults where they are others, and the best; one may be several of these."""
        self.trials.deadline.reserved = 0
        if self.best.key not in self.held:
            try:
                self._decide_on(self.best)
            except OutOfTime:
                self.held[self.best.key] = self.trials.known(self.best, self.half.held_out)
        roles = {"now": self.base, "whole card": whole(self.base), "defaults": Candidate(), "best": self.best}
        names: dict[str, list[str]] = {}
        for name, candidate in roles.items():
            names.setdefault(candidate.key, []).append(name)
        found = {candidate.key: candidate for candidate in roles.values() if candidate.key in self.tuned}
        return tuple(self._standing(", ".join(names[key]), candidate) for key, candidate in found.items())

    def _standing(self, name: str, candidate: Candidate) -> Standing:
        held, tuned = self.held.get(candidate.key, []), self.tuned[candidate.key]
        other = candidate.key != self.base.key and held
        return Standing(
            name,
            candidate,
            candidate.told(self.base),
            float(scores(tuned).mean()) if len(tuned) == len(self.half.tuning) else None,
            float(scores(held).mean()) if held else None,
            paired(self._now(len(held)), scores(held)) if other else None,
            sum(outcome.tokens for outcome in held) / len(held) if held else None,
            self.trials.known_cost(candidate.recipe),
        )

    def decide(self) -> tuple[bool, str]:
        """Whether the best wins, and why; after `standings`."""
        keep = "the defaults" if self.base.key == Candidate().key else "the settings of the nest"
        if self.best.key == self.base.key:
            return False, f"keep {keep}: nothing that was tried is better on the tuning half"
        held = scores(self.held[self.best.key])
        now = self._now(len(held))
        return decided(paired(now, held), held - now, keep)

    def _now(self, n: int) -> Values:
        return scores(self.held[self.base.key][:n])

    def _scores(self, candidate: Candidate) -> Values:
        return scores(self.tuned[candidate.key])

    def _tell(self, candidate: Candidate, asked: int, of: int) -> None:
        if self.progress is not None:
            each = self.trials.deadline.spent / (len(self.tried) + 1)
            seconds = min(max(0.0, self.trials.deadline.left), each * max(1, self.to_come))
            best = float(self._scores(self.best).mean()) if self.best.key in self.tuned else 0.0
            told = candidate.told(self.base) or "the settings of now"
            self.progress(TuneProgress(len(self.tried), self.to_come, told, asked, of, seconds, best))
