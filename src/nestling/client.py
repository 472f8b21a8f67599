"""A nest behind a server: the methods of `Nest`, over HTTP (docs/http.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import wraps
from os import PathLike
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar
from urllib.parse import quote

from nestling import settings
from nestling.answers import Answer, Verification
from nestling.connection import Connection, dumps
from nestling.errors import NotFoundError, ServerError, SettingError
from nestling.from_json import value_of
from nestling.ingest.check import is_storable
from nestling.ingest.load import Source
from nestling.models.embedder import Embedder
from nestling.models.language_model import LanguageModel
from nestling.nest import Nest
from nestling.results import DocumentInfo, Explanation, Progress, Report, Results, Tree
from nestling.sending import send
from nestling.settings import Recipe, Scoring, Shape
from nestling.types import Context, Passage

if TYPE_CHECKING:
    from nestling.measure.evaluation import Evaluation
    from nestling.measure.golden import Golden

P = ParamSpec("P")
T = TypeVar("T")

# Documents of one page of a list: as many as a server gives at once.
PAGE = 10_000


def _no(name: str) -> ServerError:
    return ServerError(f"a nest behind a server has no {name}; open its file where it is")


def _refused(method: Callable[P, T]) -> Callable[P, T]:
    """A method of `Nest` that needs the file, with the same arguments."""

    @wraps(method)
    def refuse(*_: P.args, **__: P.kwargs) -> T:
        raise _no(method.__name__)

    refuse.__doc__ = f"See `Nest.{method.__name__}`; refused, since it needs the file."
    return refuse


class RemoteNest(Nest):
    """See `Nest`: the same methods give the same values and raise the same errors, and `ServerError`.

    What needs the file (editions, syncing, scoring, the model) is refused. Made by `nestling.open`; threads may
    share it.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    # --- adding and removing

    def add(
        self, source: Source | Iterable[Source], *, progress: Callable[[Progress], None] | None = None
    ) -> Report:
        """See `Nest.add`; files are read here."""
        return send(self._connection, source, progress)

    def remove(self, ids: str | Iterable[str]) -> Sequence[str]:
        """See `Nest.remove`."""
        wanted = [ids] if isinstance(ids, str) else list(ids)
        removed: list[str] = self._post("/remove", ids=wanted)["removed"]
        return removed

    # --- asking

    def search(
        self,
        query: str,
        k: int = settings.PASSAGES,
        *,
        where: Mapping[str, Any] | None = None,
        offset: int = 0,
        min_similarity: float | None = None,
        min_coverage: float | None = None,
    ) -> Results:
        """See `Nest.search`; ``k`` is at most 1,000."""
        gate = _gate(where, min_similarity, min_coverage)
        found = self._post("/search", query=query, k=k, offset=offset, **gate, explain=True)
        passages = [value_of(Passage, each) for each in found["passages"]]
        return Results(passages, value_of(Explanation, found["explanation"]), found["abstained"])

    def context(
        self,
        query: str,
        budget: int = settings.BUDGET,
        *,
        shape: Shape = settings.SHAPE,
        window: int = settings.WINDOW,
        where: Mapping[str, Any] | None = None,
        min_similarity: float | None = None,
        min_coverage: float | None = None,
        count: Callable[[str], int] | None = None,
    ) -> Context:
        """See `Nest.context`; tokens are always the server's."""
        _refuse("count", count)
        gate = _gate(where, min_similarity, min_coverage)
        packed = self._post("/context", query=query, budget=budget, shape=shape, window=window, **gate)
        return value_of(Context, packed)

    def ask(
        self,
        question: str,
        budget: int = settings.BUDGET,
        *,
        model: LanguageModel | str | None = None,
        stream: Callable[[str], None] | None = None,
        where: Mapping[str, Any] | None = None,
        min_similarity: float | None = None,
        min_coverage: float | None = None,
        count: Callable[[str], int] | None = None,
    ) -> Answer:
        """See `Nest.ask`; the language model and the tokens are the server's."""
        _refuse("model", model)
        _refuse("count", count)
        gate = _gate(where, min_similarity, min_coverage)
        asked = {"question": question, "budget": budget, **gate, "context": True}
        answer: Answer | None = None
        for name, value in self._connection.events("/v1/ask", dumps(asked).encode()):
            if name == "answer":
                answer = value_of(Answer, value)
            elif name == "text" and stream is not None:
                stream(value["text"])
        return _whole(answer)

    def verify(self, text: str) -> Verification:
        """See `Nest.verify`."""
        return value_of(Verification, self._post("/verify", text=text))

    def evaluate(
        self,
        golden: Golden | str | PathLike[str],
        *,
        k: Sequence[int] = settings.CUTOFFS,
        budgets: Sequence[int] = settings.BUDGETS,
        where: Mapping[str, Any] | None = None,
        min_similarity: float | None = None,
        min_coverage: float | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Evaluation:
        """See `Nest.evaluate`; golden questions are read here, 2,000 at most."""
        from nestling.measure.evaluation import Evaluation
        from nestling.measure.read import golden_of

        read = golden_of(golden)
        asked = {
            "questions": [asdict(question) for question in read.questions],
            "name": read.name,
            "k": list(k),
            "budgets": list(budgets),
            **_gate(where, min_similarity, min_coverage),
        }
        found: Evaluation | None = None
        for name, value in self._connection.events("/v1/evaluate", dumps(asked).encode()):
            if name == "evaluation":
                found = Evaluation.from_json(value)
            elif name == "progress" and progress is not None:
                progress(value["done"], value["total"])
        return _whole(found)

    # --- looking

    def show(self, id: str) -> Tree | None:
        """See `Nest.show`."""
        if not is_storable(id) or not id:
            return None
        # a name of dots alone would be taken for a step up
        name = quote(id, safe="") if id.strip(".") else id.replace(".", "%2E")
        try:
            return value_of(Tree, self._connection.call("GET", f"/v1/documents/{name}"))
        except NotFoundError:
            return None

    def list(self, where: Mapping[str, Any] | None = None) -> Sequence[DocumentInfo]:
        """See `Nest.list`; documents that change while they are listed may be in it or not."""
        found: list[DocumentInfo] = []
        params: dict[str, Any] = {"limit": PAGE} if where is None else {"limit": PAGE, "where": dumps(where)}
        while True:
            page = self._connection.call("GET", "/v1/documents", params=params)
            found += (value_of(DocumentInfo, each) for each in page["documents"])
            if page["next"] is None:
                return found
            params["after"] = page["next"]

    def stats(self) -> dict[str, Any]:
        """See `Nest.stats`."""
        counts: dict[str, Any] = self._connection.call("GET", "/v1/stats")
        return {name: value for name, value in counts.items() if name != "nest"}

    def check(self, *, progress: Callable[[Progress], None] | None = None) -> Sequence[str]:
        """See `Nest.check`; the key must have the right ``admin``, and there is no progress to tell."""
        damage: list[str] = self._connection.call("GET", "/v1/check")["damage"]
        return damage

    @property
    def recipe(self) -> Recipe:
        """See `Nest.recipe`."""
        return Recipe(**self.stats()["recipe"])

    @property
    def scoring(self) -> Scoring:
        """See `Nest.scoring`."""
        return Scoring(**self.stats()["scoring"])

    def close(self) -> None:
        """Close the connections."""
        self._connection.close()

    def __repr__(self) -> str:
        return f"RemoteNest({self._connection.url!r})"

    def _post(self, path: str, **body: Any) -> Any:
        return self._connection.call("POST", f"/v1{path}", body)

    # --- what needs the file

    @property
    def embedder(self) -> Embedder:
        """Refused: the model is the server's."""
        raise _no("embedder")

    def scope(self, /, **values: str | float | bool) -> Nest:
        """Refused: the scope is that of the key."""
        raise ServerError(
            "the scope of a nest behind a server is that of its key; make a key with that scope"
        )

    with_scoring = _refused(Nest.with_scoring)
    keep_scoring = _refused(Nest.keep_scoring)
    sync = _refused(Nest.sync)
    rebuild = _refused(Nest.rebuild)
    editions = _refused(Nest.editions)
    at = _refused(Nest.at)
    switch = _refused(Nest.switch)
    rollback = _refused(Nest.rollback)
    prune = _refused(Nest.prune)
    repair = _refused(Nest.repair)
    backup = _refused(Nest.backup)
    export = _refused(Nest.export)


def _gate(
    where: Mapping[str, Any] | None, min_similarity: float | None, min_coverage: float | None
) -> dict[str, Any]:
    return {"where": where, "min_similarity": min_similarity, "min_coverage": min_coverage}


def _refuse(name: str, given: object) -> None:
    if given is not None:
        raise SettingError(
            f"{name} cannot be given to a nest behind a server, which has its own; leave it out"
        )


def _whole(value: T | None) -> T:
    if value is None:
        raise ServerError("the server's answer has no end; is it another version of Nestling?")
    return value
