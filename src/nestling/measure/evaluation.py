"""What measuring gives: every question with its figures, and every figure with n and its interval."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, TypeVar

from nestling.errors import DocumentError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure over all questions, or over those with a tag.

    Attributes:
        figure: Its name: ``document/nDCG@10``, ``evidence recall@1000``, ``latency p50`` (in seconds), …
        n: How many questions it is over.
        mean: Of the questions' values; of a latency, the quantile.
        low: End of the 95 % interval, or None where there are too few questions for one.
        high: The other end.
        tag: Of the questions, or None for all.
    """

    figure: str
    n: int
    mean: float
    low: float | None
    high: float | None
    tag: str | None = None

    def __str__(self) -> str:
        """The mean with its interval: ``0.632 (0.58–0.68)``, tokens whole, latencies in milliseconds."""
        scale, decimals, places, unit = 1.0, 3, 2, ""
        if self.figure.startswith("latency"):
            scale, decimals, places, unit = 1000.0, 0, 0, " ms"
        elif self.figure.startswith("tokens"):
            decimals = places = 0
        mean = f"{scale * self.mean:,.{decimals}f}{unit}"
        if self.low is None or self.high is None:
            return mean
        return f"{mean} ({scale * self.low:,.{places}f}–{scale * self.high:,.{places}f})"


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage that was found: id, title and first words."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What one question came to.

    Attributes:
        id: Of the question.
        question: What was asked.
        tags: Of the question.
        answerable: Whether the nest should have an answer.
        figures: By name; those that its gold allows.
        similarity: The highest of the passages found without a gate, or None where the dense channel did not vote.
        coverage: The highest of these passages.
        abstained: Whether nothing was given.
        found: The best passages given.
        seconds: Of one search.
        tokens: Of the context, by budget.
    """

    id: str
    question: str
    tags: tuple[str, ...]
    answerable: bool
    figures: Mapping[str, float]
    similarity: float | None
    coverage: float
    abstained: bool
    found: tuple[FoundPassage, ...]
    seconds: float
    tokens: Mapping[str, int]

    @property
    def headline(self) -> tuple[str, float] | None:
        """The one figure to judge it by, with its name: the first of those that it has.

        ``evidence recall``, its mean over budgets; nDCG at the largest k, of documents, then of parents; MRR.
        """
        if "evidence recall" in self.figures:
            return "evidence recall", self.figures["evidence recall"]
        for level in ("document", "parent"):
            names = [name for name in self.figures if name.startswith(f"{level}/nDCG@")]
            names += [name for name in self.figures if name == f"{level}/MRR"]
            if names:
                best = max(names, key=lambda name: int(name.partition("@")[2] or 0))
                return best, self.figures[best]
        return None


@dataclass(frozen=True, slots=True)
class Skipped:
    """A question that was not counted, and why."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Evaluation:
    """How a nest does on golden questions.

    Attributes:
        nestling: The version that measured.
        nest: Path of the nest.
        recipe: Its sizes.
        embedder: Fingerprint of its model.
        settings: What was asked for: ``golden``, ``k``, ``budgets``, ``where``, ``min_similarity``,
            ``min_coverage``, and ``depth``, the number of passages that the rankings hold.
        skipped: Questions that were not counted.
        questions: Those that were, in order.
        summary: Every figure over all of them, then over each tag.
    """

    nestling: str
    nest: str
    recipe: Mapping[str, Any]
    embedder: str
    settings: Mapping[str, Any]
    skipped: tuple[Skipped, ...]
    questions: tuple[Answer, ...]
    summary: tuple[Figure, ...]

    def figure(self, name: str, tag: str | None = None) -> Figure | None:
        """A figure of the summary by its name, or None where no question has it."""
        return next((each for each in self.summary if (each.figure, each.tag) == (name, tag)), None)

    def worst(self, n: int = 10) -> Sequence[Answer]:
        """The ``n`` answerable questions with the lowest `Answer.headline`, of those below 1; lowest first."""
        scored = [(each.headline[1], i) for i, each in enumerate(self.questions) if each.headline]
        return [self.questions[i] for value, i in sorted(scored)[:n] if value < 1 - 1e-9]

    def regressions(self, baseline: Evaluation, limits: Mapping[str, float]) -> Sequence[str]:
        """What is worse than in an earlier evaluation, a sentence each; empty when nothing is.

        Args:
            baseline: The earlier one, of the same questions.
            limits: By name of a figure, how much it may drop.
        """
        from nestling.measure.compare import regressions

        return regressions(baseline.to_json(), self.to_json(), dict(limits))

    def to_json(self) -> dict[str, Any]:
        """Plain values, in the shape of docs/measuring.md."""
        return {
            name: [_plain(each) for each in value] if isinstance(value, tuple) else value
            for name, value in ((name, getattr(self, name)) for name in self.__slots__)
        }

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Evaluation:
        """The evaluation in a file that `nestling eval --out FILE` wrote.

        Raises:
            NotFoundError: There is no such file.
            InputError: It holds no evaluation.
        """
        from nestling.measure.pairing import read_result

        return cls.from_json(read_result(os.fspath(path)))

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Evaluation:
        """The evaluation that `to_json` made these values of.

        Raises:
            DocumentError: They are none of an evaluation.
        """
        try:
            return cls(
                **{name: value[name] for name in ("nestling", "nest", "recipe", "embedder", "settings")},
                skipped=tuple(_read(Skipped, each) for each in value["skipped"]),
                questions=tuple(_answer(each) for each in value["questions"]),
                summary=tuple(_read(Figure, each) for each in value["summary"]),
            )
        except (LookupError, TypeError, AttributeError) as error:
            what = f"it has no {error}" if isinstance(error, KeyError) else f"{error!r:.80}"
            raise DocumentError(
                f"this is no evaluation ({what}); give what `nestling eval --out FILE` wrote"
            ) from error


def _plain(value: Any) -> dict[str, Any]:
    return {name: list(each) if isinstance(each, tuple) else each for name, each in asdict(value).items()}


def _answer(row: Mapping[str, Any]) -> Answer:
    found = tuple(_read(FoundPassage, each) for each in row["found"])
    return _read(Answer, {**row, "tags": tuple(row["tags"]), "found": found})


def _read(kind: type[T], row: Mapping[str, Any]) -> T:
    """A value of the names in a row; others, which a newer version may have written, are passed over."""
    return kind(**{each.name: row[each.name] for each in fields(kind) if each.name in row})
