"""``nestling``: one verb per method of the nest."""

from __future__ import annotations

from typing import Any

import click

import nestling
from nestling.apps.answering import ask, verify
from nestling.apps.comparing import compare
from nestling.apps.demo import demo
from nestling.apps.editions import editions, prune, rebuild, rollback, switch
from nestling.apps.evaluating import eval_
from nestling.apps.exits import fail, interrupted, refuse, unread
from nestling.apps.keeping import keys
from nestling.apps.looking import check, list_, show, stats
from nestling.apps.searching import context, search
from nestling.apps.serve import serve
from nestling.apps.syncing import sync
from nestling.apps.terminal import finish, prepare
from nestling.apps.tuning import tune
from nestling.apps.writing import add, remove


class _Verbs(click.Group):
    """The commands in the order in which they are met, and the one place where errors become exit codes."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:
        as_json = "--json" in ctx.args
        prepare(ctx)
        try:
            try:
                return super().invoke(ctx)
            finally:
                finish()
        except nestling.NestlingError as error:
            fail(error, as_json)
        except click.ClickException as error:
            refuse(error, as_json)
        except KeyboardInterrupt:
            interrupted(ctx.invoked_subcommand)
        except BrokenPipeError:
            unread()


@click.group(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(nestling.__version__, prog_name="nestling")
def main() -> None:
    """Search small, answer big: cited passages from your text, out of one file.

    Start with `nestling demo`, then `nestling add YOURDOCS/` and `nestling search YOUR QUESTION`.
    """


for _command in (
    *(demo, add, sync, search, context, ask, verify, show, list_, remove, stats, check, eval_, compare, tune),
    *(rebuild, editions, switch, rollback, prune),
    *(serve, keys),
):
    main.add_command(_command)
