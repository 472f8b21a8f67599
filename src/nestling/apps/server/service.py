"""What all requests of one worker share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import nestling
from nestling.apps.server.keys import Key, Keys
from nestling.apps.server.lanes import Lanes
from nestling.apps.server.metrics import Metrics
from nestling.apps.server.rates import Rates
from nestling.apps.server.serving import Serving


@dataclass
class Service:
    """One worker's parts.

    Attributes:
        serving: How the nest is served.
        nest: The whole nest.
        keys: Who may ask.
        rates: How often.
        lanes: Where work is done.
        metrics: What is counted.
        stopping: Whether the server was asked to stop.
    """

    serving: Serving
    nest: nestling.Nest
    keys: Keys
    rates: Rates
    lanes: Lanes
    metrics: Metrics
    stopping: bool = False

    @property
    def name(self) -> str:
        """What the nest is called outside: the name of its file, without where it is."""
        return Path(self.serving.path).name

    def nest_of(self, key: Key) -> nestling.Nest:
        """The nest as far as a key reaches."""
        return self.nest if key.scope is None else self.nest.scope(**key.scope)

    def close(self) -> None:
        """Let work that has begun end, then let go of everything."""
        self.lanes.close()
        self.nest.close()
        self.rates.close()
        self.keys.close()
