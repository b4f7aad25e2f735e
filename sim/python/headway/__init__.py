"""Headway: predicts distributed training before the cluster is bought or booked.

    import headway

    job = headway.load("llama3_8b_64")               # a name that ships, a file, or a dict
    job = job.set("/strategy/micro_batch", 2)        # by JSON pointer; gives another scenario
    headway.simulate(job)["iteration_time_s"]        # the document of `headway simulate --json`
    headway.sweep(job, {"gpus": [64, 128]})          # columns; .to_pandas() makes a DataFrame
    headway.plan(job, "tokens=2T deadline=30d")      # the document of `headway plan --json`
"""

import json
import os
import pathlib
import tempfile
from collections.abc import Mapping

from headway import _headway
from headway.errors import InputError, InternalError, MachineError

__all__ = ["Columns", "InputError", "InternalError", "MachineError", "Scenario", "load", "plan",
           "simulate", "sweep"]
__version__ = _headway.version()

_headway.carry_data(os.fsencode(pathlib.Path(__file__).parent / "data"))


def _json(value, indent=None):
    """JSON of a value; numbers of NumPy are numbers."""
    return json.dumps(value, indent=indent, allow_nan=False, default=lambda other: other.item())


def _jobs(jobs):
    return len(os.sched_getaffinity(0)) if jobs is None else jobs


class Scenario:
    """A scenario that does not change: `set` gives another one. It is read when it is used."""

    def __init__(self, source, overrides=()):
        self._given = source
        self._overrides = tuple(overrides)
        self._resolved = None
        if isinstance(source, Mapping):
            self._source = _headway.Source(b"", _json(source, indent=2), list(self._overrides))
        else:
            self._source = _headway.Source(os.fsencode(source), None, list(self._overrides))

    def set(self, pointer, value):
        """The scenario with one value changed, as `--set POINTER=VALUE` does: also through
        references, "/model/layers" in the model that the scenario names."""
        return Scenario(self._given, (*self._overrides, (pointer, _json(value))))

    @property
    def resolved(self):
        """The scenario as a dict, every default written out. Raises InputError."""
        if self._resolved is None:
            self._resolved = _headway.resolve(self._source)
        return json.loads(self._resolved)

    def __getitem__(self, pointer):
        """The value at a JSON pointer of the resolved scenario. Raises KeyError."""
        value = self.resolved
        for token in pointer.split("/")[1:]:
            token = token.replace("~1", "/").replace("~0", "~")
            try:
                value = value[int(token)] if isinstance(value, list) else value[token]
            except (IndexError, KeyError, TypeError, ValueError):
                raise KeyError(pointer) from None
        return value

    def __repr__(self):
        given = "{...}" if isinstance(self._given, Mapping) else repr(self._given)
        changed = "".join(f".set({pointer!r}, {value})" for pointer, value in self._overrides)
        return f"headway.load({given}){changed}"


class Columns(dict):
    """Lists of equal length by name: one for each axis, "status" ("done", "does_not_fit",
    "refused", "failed"), "reason", and the numbers of results, None where a point has none."""

    def to_pandas(self):
        """The same as a DataFrame, where pandas is installed."""
        import pandas

        return pandas.DataFrame(self)


def load(source):
    """A scenario: the name of one that ships, a file, or a dict. Files that a dict refers to are
    looked for from the working directory. Raises InputError with all that is wrong with it."""
    scenario = source if isinstance(source, Scenario) else Scenario(source)
    scenario.resolved  # reads and checks it
    return scenario


def _source(scenario):
    return (scenario if isinstance(scenario, Scenario) else Scenario(scenario))._source


def simulate(scenario, *, jobs=None, reference=None, what_if=False, even_if_it_does_not_fit=False):
    """One prediction, as the document "headway/result/1": what `headway simulate --json` prints.
    A job that does not fit in memory is an answer: ["memory_bytes"]["fits"] is False."""
    return json.loads(_headway.simulate(_source(scenario), _jobs(jobs), reference, what_if,
                                        even_if_it_does_not_fit))


def sweep(scenario, axes, *, folder=None, jobs=None):
    """Every combination of values as columns, a row a point. `axes`: lists of values, or texts such
    as "8..1024*2", by name; the names are those of `headway sweep --axis`. With a folder the points
    are kept there, and what it has is not done again."""
    texts = [f"{name}={values if isinstance(values, str) else _json(list(values))}"
             for name, values in axes.items()]
    with tempfile.TemporaryDirectory() as scratch:
        store = os.fsencode(scratch if folder is None else folder)
        found = _headway.sweep(_source(scenario), texts, store, _jobs(jobs))
    columns = {name: [json.loads(value) for value in values]
               for name, values in found["axes"].items()}
    return Columns(columns, status=found["status"], reason=found["reason"], **found["numbers"])


def plan(scenario, goal=None, *, keep=(), framework=None, best=None, jobs=None):
    """The best strategy, or with a goal the cluster that it needs or the largest job that fits: the
    document that `headway plan --json` prints. `keep`: searched fields that stay as they are.
    `framework`: "megatron-lm", "torchtitan", "deepspeed" or "horovod", whose settings have to be
    enough for the strategy."""
    return json.loads(_headway.plan(_source(scenario), goal, list(keep), framework, best, _jobs(jobs)))
