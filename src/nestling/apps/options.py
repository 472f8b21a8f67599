"""Options that several commands share, and what they mean."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

import nestling
from nestling.settings import BUDGETS, LEAST_GRADE, TIMEOUT

Command = TypeVar("Command", bound=Callable[..., Any])

NEST_VARIABLE = "NESTLING_NEST"
NEST_HERE = "nest.nest"
SCOPE_VARIABLE = "NESTLING_SCOPE"
RERANKER_VARIABLE = "NESTLING_RERANKER"

nest_option = click.option(
    "--nest",
    metavar="PATH",
    envvar=NEST_VARIABLE,
    help=f"The nest, or http://HOST:PORT of a server; else ${NEST_VARIABLE}, else ./{NEST_HERE} if it exists.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Answer in JSON (docs/json.md).")
timeout_option = click.option(
    "--timeout",
    type=click.FloatRange(min=0),
    default=TIMEOUT,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait for another process that is writing.",
)


class _Whole(click.types.StringParamType):
    """Text that is not split at white space where it stands in the environment."""

    def split_envvar_value(self, rv: str) -> list[str]:
        return [rv]


def _keep_scope(context: click.Context, _: click.Parameter, given: tuple[str, ...]) -> None:
    context.meta[SCOPE_VARIABLE] = given


# commands take it up in `opened`
scope_option = click.option(
    "--scope",
    "scopes",
    type=_Whole(),
    metavar="KEY=VALUE",
    multiple=True,
    envvar=SCOPE_VARIABLE,
    expose_value=False,
    callback=_keep_scope,
    help="Only documents with this metadata value (docs/scopes.md); also a JSON object. Given again: all hold."
    f" Else ${SCOPE_VARIABLE}.",
)


def _keep_reranker(context: click.Context, _: click.Parameter, given: str | None) -> None:
    context.meta[RERANKER_VARIABLE] = given


# commands take it up in `opened`
reranker_option = click.option(
    "--reranker",
    metavar="SPEC",
    envvar=RERANKER_VARIABLE,
    expose_value=False,
    callback=_keep_reranker,
    help="What judges the best children of a query, jina:MODEL@URL or onnx:DIRECTORY (docs/reranking.md); else"
    f" ${RERANKER_VARIABLE}; else nothing.",
)

limit_option = click.option(
    "--limit", type=click.IntRange(min=1), metavar="N", help="Ask only N, evenly spread."
)

least_grade_option = click.option(
    "--least-grade",
    type=click.IntRange(min=1),
    default=LEAST_GRADE,
    show_default=True,
    metavar="N",
    help="The lowest grade of the questions' judgements that counts as relevant.",
)


def budgets(meaning: str) -> Callable[[Command], Command]:
    """``--budget``, given once or more often; ``meaning`` is its help."""
    return click.option(
        "--budget",
        "budgets",
        type=int,
        multiple=True,
        default=BUDGETS,
        show_default=True,
        metavar="TOKENS",
        help=meaning,
    )


def of_a_new_nest(command: Command) -> Command:
    """What a nest is made with where it does not exist: ``--embedder``, sizes, ``--recipe``."""
    for option in (
        click.option(
            "--recipe",
            metavar="FILE",
            help="The settings that `nestling tune --out` wrote; instead of sizes.",
        ),
        click.option(
            "--unit", type=click.Choice(["characters", "tokens"]), help="Of a new nest: what sizes count."
        ),
        click.option(
            "--overlap", type=int, metavar="N", help="Of a new nest: how much of a child the next repeats."
        ),
        click.option("--parent-size", type=int, metavar="N", help="Of a new nest: the most a parent holds."),
        click.option("--child-size", type=int, metavar="N", help="Of a new nest: the most a child holds."),
        click.option(
            "--embedder", metavar="SPEC", help="The embedding model of a new nest; else the built-in one."
        ),
    ):
        command = option(command)
    return command


def new_nest(
    recipe: str | None, child_size: int | None, parent_size: int | None, overlap: int | None, unit: str | None
) -> tuple[nestling.Recipe | None, nestling.Scoring | None]:
    """The recipe and the scoring that the options of `of_a_new_nest` ask for; None for the nest's own."""
    given = {"child_size": child_size, "parent_size": parent_size, "overlap": overlap, "unit": unit}
    return settings_of(recipe, {name: value for name, value in given.items() if value is not None})


def on_a_nest(command: Command) -> Command:
    """``--nest``, ``--scope``, ``--timeout`` and ``--json``, for a command that works on a nest."""
    return nest_option(scope_option(timeout_option(json_option(command))))


def scopes_asked() -> list[Mapping[str, Any]]:
    """The values that ``--scope`` asks for, each time it was given."""
    return [scope_of(text) for text in click.get_current_context().meta.get(SCOPE_VARIABLE, ())]


def reranker_asked() -> str | None:
    """The reranker that ``--reranker`` names, if any."""
    return click.get_current_context().meta.get(RERANKER_VARIABLE) or None


def opened(path: str, **settings: Any) -> nestling.Nest:
    """Open a nest as `nestling.open` does, in the scope and with the reranker that options ask for."""
    scopes = scopes_asked()
    nest = nestling.open(path, reranker=reranker_asked(), **settings)
    try:
        for values in scopes:
            nest = nest.scope(**values)
    except BaseException:
        nest.close()
        raise
    return nest


def filtered(command: Command) -> Command:
    """``--where``."""
    return click.option(
        "--where",
        metavar="FILTER",
        multiple=True,
        help='A metadata filter: KEY=VALUE, or JSON such as \'{"year": {"$gte": 2020}}\'. Given again: all hold.',
    )(command)


def gated(command: Command) -> Command:
    """``--min-similarity`` and ``--min-coverage``."""
    similarity = click.option(
        "--min-similarity",
        type=float,
        metavar="N",
        help="Leave out passages whose best child's cosine to the query is below it, -1 to 1.",
    )
    coverage = click.option(
        "--min-coverage",
        type=float,
        metavar="N",
        help="Leave out passages that hold less of the query's IDF weight, 0 to 1.",
    )
    return similarity(coverage(command))


def located(nest: str | None) -> str:
    """The path of the nest to read.

    Raises:
        NotFoundError: None is named and there is none here.
    """
    if nest:
        return nest
    if Path(NEST_HERE).exists():
        return NEST_HERE
    raise nestling.NotFoundError(
        f"no nest is named, and there is no ./{NEST_HERE}; make one with `nestling add PATH…`,"
        f" or name one with --nest or {NEST_VARIABLE}"
    )


def local(nest: str | None) -> str:
    """The path of the nest that a server is, or is to be, before.

    Raises:
        NotFoundError: As `located`.
        SettingError: It is the address of a server.
    """
    path = located(nest)
    if path.startswith(("http://", "https://")):
        raise nestling.SettingError(f"{path} is a server; do this where the file of its nest is")
    return path


def filter_of(given: tuple[str, ...]) -> Mapping[str, Any] | None:
    """The filters given with ``--where``, as one.

    Raises:
        FilterError: One is neither a JSON object nor KEY=VALUE.
    """
    filters = [_filter(text) for text in given]
    if len(filters) < 2:
        return filters[0] if filters else None
    return {"$and": filters}


def settings_of(
    file: str | None, sizes: Mapping[str, Any]
) -> tuple[nestling.Recipe | None, nestling.Scoring | None]:
    """The recipe and the scoring that a file, or sizes on the command line, ask for; None for the nest's own.

    Raises:
        InputError: The file does not hold settings as ``nestling tune --out`` writes them.
    """
    if file is None:
        return (nestling.Recipe(**sizes) if sizes else None), None
    if sizes:
        raise click.UsageError("--recipe holds the sizes: give either the file or sizes")
    try:
        found = json.loads(Path(file).read_bytes())
        scoring = nestling.Scoring(**found["scoring"]) if "scoring" in found else None
        return nestling.Recipe(**found["recipe"]), scoring
    except FileNotFoundError as error:
        raise nestling.NotFoundError(f"there is no file {file}; check the path") from error
    except nestling.NestlingError:
        raise
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise nestling.InputError(
            f"{file} holds no settings ({error!r:.80}); give what `nestling tune --out` wrote"
        ) from error


def _filter(text: str) -> Mapping[str, Any]:
    if not text.lstrip().startswith("{"):
        key, equals, value = text.partition("=")
        if not equals or key.strip() in ("", "$") or key.rstrip()[-1:] in "<>!~":
            raise nestling.FilterError(
                f"--where {text}: neither KEY=VALUE nor a JSON object; write --where tenant=acme,"
                ' or --where \'{"year": {"$gte": 2020}}\''
            )
        return {key: _value(value)}
    try:
        found: Mapping[str, Any] = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise nestling.FilterError(
            f'--where {text}: not JSON ({error}); write --where \'{{"tenant": "acme"}}\''
        ) from error
    return found


def scope_of(text: str) -> Mapping[str, Any]:
    """The values of one ``--scope``.

    Raises:
        SettingError: It is neither KEY=VALUE nor a JSON object.
    """
    key, equals, value = text.partition("=")
    values: Any = {key.strip(): _value(value)} if equals else None
    if text.lstrip().startswith("{"):
        try:
            values = json.loads(text)
        except (ValueError, RecursionError):
            values = None
    if not isinstance(values, dict) or not values:
        raise nestling.SettingError(
            f"--scope {text}: neither KEY=VALUE nor a JSON object; write --scope tenant=acme,"
            ' or --scope \'{"tenant": "acme", "year": 2020}\''
        )
    return values


def _value(text: str) -> str | int | float | bool | None:
    """A number, true, false, null or quoted text as in JSON; anything else is text as it stands."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if value is None or isinstance(value, str | int | float | bool) else text
