#!/usr/bin/env python3
"""Fits the constants of the published profiles to published training steps.

    fit.py --rows ROWS.json --predictor build/release/tests/validation/closed_form_rows
           [--simulated VALIDATION.json] [--write] [--partitions 20] [--report FILE.json]

Minimises, over the logarithms of the effects in fit_constants.py, a pseudo-Huber loss of
log(predicted / published) at 3 %, each row weighted by the inverse fourth root of the rows of its
configuration group, plus the squares of the effects over their widths. Predictions are the product's
own, in closed form; they are linearised a few times on the way, and steps that make the loss larger
are cut. With --simulated, each is corrected
by what the simulation of its row with the constants that ship makes of the closed form (`headway
validate --json`), where the slowest device of a cluster stands on one stage only. Then every source is left out in turn:
its rows are predicted by the product with constants fitted to all other sources. With --write, the
constants go into calibrate/profiles and scenarios/validation. Needs numpy and scipy.
"""
import argparse
import json
import pathlib
import subprocess
import sys

import numpy as np
from scipy.optimize import least_squares

from fit_constants import ARCHITECTURE, CONSTANTS
from fit_report import constants_table, show, show_partitions, summary, kind_of
from profile_text import PROFILES, read_profiles, write_profiles
from take_over import take_over

SCALE = 0.03  # of the pseudo-Huber loss: errors beyond it count linearly
SPREAD = 1.5  # of sigma: steps from one source err together, so they tell less than they seem to
ROUNDS = 5  # of linearisation
FIXED_SPREAD = 0.2  # of what the fit leaves at its prior
STEP = 1e-3  # of a logarithm, for differences
SCENARIOS = pathlib.Path(__file__).resolve().parents[2] / "scenarios" / "validation"


class Predictor:
    """A process that predicts all rows with changed constants."""

    def __init__(self, program, rows):
        self.process = subprocess.Popen([program, rows], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.rows = json.loads(self.process.stdout.readline())

    def __call__(self, question):
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit("the predictor stopped")
        return np.log(np.array(json.loads(answer)))


def at(profile, pointer):
    node = profile
    for part in pointer.strip("/").split("/"):
        if not isinstance(node, dict) or part not in node:
            return None
        node = node[part]
    return node


class Place:
    """Where a constant stands: (profile, pointer), or (source, field)."""

    def __init__(self, constant, holder, pointer, prior, effects):
        self.constant, self.holder, self.pointer = constant, holder, pointer
        self.prior, self.effects = prior, effects  # numbers of the effects that move it

    def value(self, x):
        value = self.prior * float(np.exp(sum(x[i] for i in self.effects)))
        if self.pointer is None:
            return value
        return min(max(value, self.constant.least), self.constant.most)


class Fit:
    def __init__(self, predictor, profiles):
        self.predictor, self.profiles = predictor, profiles
        self.rows = predictor.rows
        self.published = np.log([row["published_s"] for row in self.rows])
        self.correction = np.zeros(len(self.rows))  # of log times
        self.groups = np.array([row["group"] for row in self.rows])
        self.sources = np.array([row["source"] for row in self.rows])
        sizes = {group: int((self.groups == group).sum()) for group in set(self.groups)}
        self.weight = np.array([sizes[group] ** -0.25 for group in self.groups])
        self.effects = []  # (constant, effect)
        for constant in CONSTANTS:
            self.effects += [(constant, effect) for effect in constant.effects]
        self.mine = [np.array([effect.concerns(row) for row in self.rows])
                     for _, effect in self.effects]
        self.width = np.array([effect.width for _, effect in self.effects])
        self.places = [place for constant in CONSTANTS for place in self.places_of(constant)]

    def families(self, profile):
        """Those that a row ran: what is known of others is not the fit's to say."""
        seen = {row["family"] for row in self.rows}
        return [family for family in profile["kernel_families"] if family in seen]

    def places_of(self, constant):
        numbers = [i for i, (other, _) in enumerate(self.effects) if other is constant]
        for profile, content in self.profiles.items():
            for pointer in constant.pointers:
                families = self.families(content) if "{family}" in pointer else [None]
                for family in families:
                    where = pointer.format(family=family)
                    prior = constant.median(profile, family)
                    if at(content, where) is not None and prior is not None:
                        yield Place(constant, profile, where, prior,
                                    [i for i in numbers
                                     if self.effects[i][1].moves(profile, family)])
        for i in numbers:
            effect = self.effects[i][1]
            if effect.of == "source":
                for name in effect.filed_under():
                    yield Place(constant, name, None, 1.0, [i])

    def question(self, x, moved=None):
        """`moved`: the constant of which all places are a step further."""
        question = {"profiles": {}, "sources": {}}
        for place in self.places:
            value = place.value(x)
            if place.constant is moved and place.pointer is not None:
                value = min(value * np.exp(STEP), place.constant.most)
            if place.pointer is not None:
                question["profiles"].setdefault(place.holder, {})[place.pointer + "/value"] = value
            else:
                question["sources"].setdefault(place.holder, {})[
                    place.constant.source_field] = value
        if moved is not None and not moved.pointers:
            for source in set(self.sources):
                question["sources"].setdefault(source, {}).setdefault(moved.source_field, 1.0)
                question["sources"][source][moved.source_field] *= np.exp(STEP)
        return question

    def correct(self, validation):
        """By the simulations of a validation with the constants that ship."""
        simulated = {row["id"]: row.get("predicted_s") for row in validation["rows"]}
        self.correction = np.log([simulated[row["id"]] for row in self.rows]) - self.predictor({})

    def answer(self, question):
        return self.predictor(question) + self.correction

    def predict(self, x):
        return self.answer(self.question(x))

    def linear(self, x):
        """Log times at x and their slopes, an effect a column."""
        base = self.predict(x)
        slopes = np.zeros((len(self.rows), len(x)))
        for constant in CONSTANTS:
            mine = [i for i, (other, _) in enumerate(self.effects) if other is constant]
            if not mine:
                continue
            slope = (self.answer(self.question(x, constant)) - base) / STEP
            for i in mine:
                slopes[:, i] = np.where(self.mine[i], slope, 0.0)
        return base, slopes

    def solve(self, linear, x, rows):
        """The best effects where predictions are linear around x."""
        base, slopes = linear
        weight = np.sqrt(self.weight[rows])

        def errors(y):
            return (base + slopes @ (y - x) - self.published)[rows] / SCALE

        def residuals(y):
            r = errors(y)
            return np.concatenate([weight * np.sign(r) * np.sqrt(2 * (np.sqrt(1 + r * r) - 1)),
                                   y / self.width])

        def jacobian(y):
            r = errors(y)
            size = np.sqrt(2 * (np.sqrt(1 + r * r) - 1))
            gain = np.where(np.abs(r) > 1e-6,
                            np.abs(r) / np.sqrt(1 + r * r) / np.maximum(size, 1e-9), 1.0)
            return np.vstack([(weight * gain / SCALE)[:, None] * slopes[rows],
                              np.diag(1.0 / self.width)])

        solution = least_squares(residuals, x, jac=jacobian, x_scale=self.width, max_nfev=60)
        return solution.x, np.sqrt(np.diag(np.linalg.inv(solution.jac.T @ solution.jac)))

    def loss(self, x, log_times):
        r = (log_times - self.published) / SCALE
        return ((self.weight * 2 * (np.sqrt(1 + r * r) - 1)).sum() + ((x / self.width) ** 2).sum())

    def run(self, rounds):
        everything = np.ones(len(self.rows), bool)
        x = np.zeros(len(self.effects))
        spread = self.width
        log_times = self.predict(x)
        for _ in range(rounds):
            wanted, spread = self.solve(self.linear(x), x, everything)
            # What hides behind compute has no slope: a step may go where it does not hide any more.
            for share in (1.0, 0.5, 0.25, 0.125):
                there = x + share * (wanted - x)
                then = self.predict(there)
                if self.loss(there, then) < self.loss(x, log_times):
                    x, log_times = there, then
                    break
            error = np.exp(log_times - self.published) - 1
            print(f"mean error {100 * np.abs(error).mean():.2f} %", flush=True)
        return x, spread


def place_source(fit, x, spread, place):
    count = len(fit.rows)
    text = f"fitted over {count} published training steps, prior {place.prior:.3g}"
    text += f" {place.constant.unit}".rstrip() + ", see tests/validation"
    return {"value": float(f"{place.value(x):.4g}"),
            "spread": float(f"{min(SPREAD * np.sqrt(sum(spread[i] ** 2 for i in place.effects)), 1.0):.2g}"),
            "source": text}


def write_constants(fit, x, spread, summary_line):
    sources = {}
    for place in fit.places:
        said = place_source(fit, x, spread, place)
        if place.pointer is None:
            sources.setdefault(place.holder, {})[place.constant.source_field] = {
                "value": said["value"], "spread": said["spread"]}
            continue
        node = at(fit.profiles[place.holder], place.pointer)
        if place.effects:
            node.update(said)
        elif node["value"] != place.prior or node["source"].startswith("fitted"):
            node.update(value=place.prior, spread=FIXED_SPREAD,
                        source="the prior of the fit, which leaves it, see tests/validation")
    for profile in fit.profiles.values():
        tf32 = profile["device"]["gemm_efficiency"].get("tf32", {})
        if tf32.get("source", "").startswith("assumption: that of bf16"):
            kernels = json.loads((PROFILES / "kernels" / f"{profile['kernels']}.json").read_text())
            efficiency = kernels["products"]["bf16"]["efficiency"]
            rate = profile["device"]["rate_in_training"]["bf16"]["value"]
            tf32["value"] = float(f"{efficiency * rate:.4g}")
        profile["provenance"]["fit"] = summary_line
    count_published_steps(fit.profiles, fit.rows)
    write_profiles(fit.profiles)
    take_over()
    write_lines(SCENARIOS / "sources.json", "headway/published-sources/1", sources)


def count_published_steps(profiles, rows):
    """What the constants of each accelerator and of each software rest on."""
    def counted(mine):
        return {"count": len(mine), "sources": len({row["source"] for row in mine})}
    for name, profile in profiles.items():
        holders = {"profile": [(name, profile)], "family": profile["kernel_families"].items()}
        for key, parts in holders.items():
            for part_name, part in parts:
                part.pop("published_steps", None)
                mine = [row for row in rows if row[key] == part_name]
                if mine:
                    part["published_steps"] = counted(mine)


def write_lines(path, schema, sources):
    """A source a line."""
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(content)}"
                       for name, content in sorted(sources.items()))
    path.write_text(f'{{"schema": "{schema}",\n"sources": {{\n{lines}\n}}}}\n')


def leave_out_sources(fit, x, linear):
    """Errors on every source with constants fitted to all others, and what these are."""
    unseen = np.zeros(len(fit.rows))
    constants = {}
    for source in sorted(set(fit.sources)):
        mine = fit.sources == source
        held, _ = fit.solve(linear, x, ~mine)
        question = fit.question(held)
        shared = {place.holder: {place.constant.source_field: float(f"{place.value(held):.4g}")}
                  for place in fit.places
                  if place.pointer is None and fit.effects[place.effects[0]][1].is_shared()}
        question["sources"] = shared  # else it is like any other
        unseen[mine] = (np.exp(fit.answer(question) - fit.published) - 1)[mine]
        used = {row["profile"] for row, is_mine in zip(fit.rows, mine) if is_mine}
        families = {row["family"] for row, is_mine in zip(fit.rows, mine) if is_mine}
        kept = {}
        for place in fit.places:
            if place.pointer is None or place.holder not in used or not place.effects:
                continue
            if "/kernel_families/" in place.pointer and (
                    place.pointer.split("/")[2] not in families):
                continue
            kept.setdefault(place.holder, {})[place.pointer + "/value"] = float(
                f"{place.value(held):.4g}")
        of_kind = {name: said for name, said in shared.items() if name.startswith(source + ",")}
        constants[source] = {**kept, **({"effects": of_kind} if of_kind else {})}
    return unseen, constants


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", required=True)
    parser.add_argument("--predictor", required=True)
    parser.add_argument("--simulated", help="JSON of headway validate, to correct the closed form")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--partitions", type=int, default=0,
                        help="cross-validation over so many partitions into folds")
    parser.add_argument("--write", action="store_true",
                        help="into calibrate/profiles and scenarios/validation")
    parser.add_argument("--report", help="JSON file for the errors")
    options = parser.parse_args()

    profiles = read_profiles(sorted(ARCHITECTURE))
    fit = Fit(Predictor(options.predictor, options.rows), profiles)
    if options.simulated:
        fit.correct(json.loads(pathlib.Path(options.simulated).read_text()))
    x, spread = fit.run(options.rounds)
    report = {"constants": len(fit.effects)}
    errors = np.exp(fit.predict(x) - fit.published) - 1
    report["in_sample"] = summary(fit.rows, errors)
    show(f"in sample, {len(fit.effects)} constants", report["in_sample"])
    linear = fit.linear(x)
    unseen, constants = leave_out_sources(fit, x, linear)
    report["unseen_source"] = summary(fit.rows, unseen)
    show("unseen source", report["unseen_source"])
    report["rows"] = [
        {"id": row["id"], "source": row["source"], "group": row["group"], "kind": kind_of(row),
         "family": row["family"], "profile": row["profile"], "error": float(e),
         "unseen_source": float(u)}
        for row, e, u in zip(fit.rows, errors, unseen)]
    if options.partitions:
        show_partitions(fit, linear, x, options.folds, options.partitions)
    table = constants_table(fit, x, spread, linear[1])
    report["effects"] = table
    if options.write:
        write_constants(fit, x, spread, (
            f"the product's own model in closed form on {len(fit.rows)} published training steps, "
            f"mean error {100 * report['in_sample']['all']['mean']:.1f} % in sample, "
            f"{100 * report['unseen_source']['all']['mean']:.1f} % on sources left out "
            f"(tests/validation); spreads are {SPREAD} times the fit's sigma, as steps from one "
            "source err together"))
        write_lines(SCENARIOS / "unseen_sources.json", "headway/unseen-sources/1", constants)
        lines = ",\n".join(json.dumps(row) for row in table)
        (SCENARIOS / "constants.json").write_text(
            f'{{"schema": "headway/free-constants/1",\n"constants": [\n{lines}\n]}}\n')
    if options.report:
        pathlib.Path(options.report).write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
