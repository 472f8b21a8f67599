"""One candidate on golden questions: what is measured, and when to stop measuring it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import takewhile
from typing import NamedTuple, Protocol

from nestling.errors import NestlingError
from nestling.measure.bootstrap import Values, paired
from nestling.measure.candidates import Candidate
from nestling.measure.objective import PASSAGES, Askable, Asked, outcome, scores
from nestling.measure.state import Outcome, State
from nestling.measure.threshold import Signals
from nestling.settings import Recipe, Scoring

# Questions asked before it is looked at again whether a candidate can still win.
STEP = 25
# A candidate is given up when the best one is better than it in more than this share of resamples.
HOPELESS = 0.95


class Cost(NamedTuple):
    """What an index costs.

    Attributes:
        parents: How many.
        children: How many: each is embedded once, and stored.
        bytes: Of all vectors.
    """

    parents: int
    children: int
    bytes: int


class Index(Protocol):
    """The documents in one recipe, ready to be asked with any scoring."""

    @property
    def cost(self) -> Cost:
        """What it costs."""
        ...

    @property
    def seconds(self) -> float:
        """How long building it again would take, where everything is embedded."""
        ...

    def asked_with(self, scoring: Scoring) -> Askable:
        """The index with these weights."""
        ...


class OutOfTime(NestlingError):  # noqa: N818 - a signal, never seen by users
    """The time is over."""


class Deadline:
    """When to stop.

    Attributes:
        reserved: Seconds before the end that `check` holds back for what must still be done.
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._begin = clock()
        self._seconds = seconds
        self.reserved = 0.0

    @property
    def spent(self) -> float:
        """Seconds since the beginning."""
        return self._clock() - self._begin

    @property
    def left(self) -> float:
        """Seconds until the end, less what is reserved."""
        return self._seconds - self.reserved - self.spent

    def check(self) -> None:
        """Raise `OutOfTime` when nothing is left."""
        if self.left < 0:
            raise OutOfTime


@dataclass
class Trials:
    """Runs candidates, and never the same one twice.

    Attributes:
        build: Makes the index of a recipe; may raise `OutOfTime`.
        state: What is known already.
        deadline: When to stop.
        budgets: Tokens of the contexts that evidence is looked for in.
        count: Tokens of a text.
        keep: Called with a recipe whose index will soon be asked again.
        tell: Called after each step of questions with the candidate, how many are done, and of how many.
        seconds_each: That a question took, of late.
        seconds_to_build: That building an index again takes, at most.
    """

    build: Callable[[Recipe], Index]
    state: State
    deadline: Deadline
    budgets: Sequence[int]
    count: Callable[[str], int]
    keep: Callable[[Recipe], None] = lambda _: None
    tell: Callable[[Candidate, int, int], None] = lambda *_: None
    seconds_each: float = 0.0
    seconds_to_build: float = 0.0

    def run(
        self, candidate: Candidate, questions: Sequence[Asked], rival: Values | None = None
    ) -> list[Outcome]:
        """Ask questions, in order, with a candidate.

        Args:
            candidate: The settings.
            questions: In an order that has nothing to do with what they ask.
            rival: The scores of the one to beat; where they are given, a candidate that cannot win any more
                is given up.

        Returns:
            The outcomes of the first questions: of all, unless it was given up.

        Raises:
            OutOfTime: The time is over; what was asked is kept.
        """
        known = self.state.outcomes(candidate.key)
        askable: Askable | None = None
        done: list[Outcome] = []
        for first in range(0, len(questions), STEP):
            if rival is not None and first and _hopeless(done, rival):
                return done
            step = questions[first : first + STEP]
            if any(asked.question.id not in known for asked in step):
                askable = askable or self._index(candidate.recipe).asked_with(candidate.scoring)
                known |= self._ask(askable, candidate, [a for a in step if a.question.id not in known])
            done += [known[asked.question.id] for asked in step]
            self.tell(candidate, len(done), len(questions))
        return done

    def known(self, candidate: Candidate, questions: Sequence[Asked]) -> list[Outcome]:
        """The outcomes of the first questions, as far as they are known."""
        known = self.state.outcomes(candidate.key)
        return [known[each.question.id] for each in takewhile(lambda a: a.question.id in known, questions)]

    def known_cost(self, recipe: Recipe) -> Cost | None:
        """What the index of a recipe costs, if it was ever built."""
        known = self.state.cost(_name(recipe))
        return Cost(**known) if known else None

    def signals(self, candidate: Candidate, questions: Sequence[Asked]) -> list[Signals]:
        """What the gate would see for each question.

        Raises:
            OutOfTime: The time is over.
        """
        askable = self._index(candidate.recipe).asked_with(candidate.scoring)
        found = []
        for question, _ in questions:
            self.deadline.check()
            results = askable.search(question.question, PASSAGES, where=question.where)
            found.append(Signals.of(results, not question.unanswerable))
        return found

    def _index(self, recipe: Recipe) -> Index:
        self.deadline.check()
        index = self.build(recipe)
        self.state.keep_cost(_name(recipe), index.cost._asdict())
        self.seconds_to_build = max(self.seconds_to_build, index.seconds)
        return index

    def _ask(self, askable: Askable, candidate: Candidate, step: Iterable[Asked]) -> dict[str, Outcome]:
        found: dict[str, Outcome] = {}
        begin = self.deadline.spent
        try:
            for asked in step:
                self.deadline.check()
                found[asked.question.id] = outcome(askable, asked, candidate, self.budgets, self.count)
        finally:
            self.state.keep_outcomes(candidate.key, found)
            if found:
                self.seconds_each = (self.deadline.spent - begin) / len(found)
        return found


def _hopeless(done: Sequence[Outcome], rival: Values) -> bool:
    return paired(scores(done), rival[: len(done)], resamples=400).better > HOPELESS


def _name(recipe: Recipe) -> str:
    return repr(sorted(asdict(recipe).items()))
