#!/usr/bin/env python3
"""Fits the constants of the published profiles to published training steps.

    fit.py --rows ROWS.json --predictor build/release/tests/validation/closed_form_rows
           [--folds 3] [--partitions 20] [--write] [--report FILE.json]

Minimises, over the logarithms of the constants in fit_constants.py, a pseudo-Huber loss of
log(predicted / published) at 3 %, each row weighted by the inverse fourth root of the rows of its
configuration group, plus the priors. Predictions are the product's own, in closed form. Cross-validation keeps
groups together. Needs numpy and scipy.
"""
import argparse
import json
import pathlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from scipy.optimize import least_squares

from fit_constants import ARCHITECTURE, CONSTANTS, EARLY_FAMILIES
from profile_text import read_profiles, write_profiles

SCALE = 0.03  # of the pseudo-Huber loss: errors beyond it count linearly
SPREAD = 1.5  # of sigma: steps from one source err together, so they tell less than they seem to


class Predictor:
    """A process that predicts all rows with changed constants."""

    def __init__(self, program, rows):
        self.process = subprocess.Popen([program, rows], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.rows = json.loads(self.process.stdout.readline())

    def __call__(self, changes):
        self.process.stdin.write(json.dumps(changes) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit("the predictor stopped")
        return np.array(json.loads(answer))


def key_of(constant, row):
    """The value of `constant` that a row uses, or None."""
    scope = constant.scope
    if scope == "all":
        return "all"
    if scope == "profile":
        return row["profile"]
    if scope == "architecture":
        return ARCHITECTURE[row["profile"]]
    if scope == "era":
        return "early" if row["family"] in EARLY_FAMILIES else "later"
    if scope == "family":
        return row["family"]
    if row["experts"] != (scope == "expert release"):
        return None
    return (row["family"], release_name(row)) if row["release"] else None


def release_name(row):
    """As strategies name it: a release works on mixtures of experts apart from dense models."""
    return f'{row["framework"]}-{row["release"]}{"-experts" if row["experts"] else ""}'


class Free:
    """One free number: a constant at one key."""

    def __init__(self, constant, key, rows):
        self.constant, self.key, self.rows = constant, key, rows
        self.median = constant.median(key)

    def places(self, profiles):
        """(profile, pointer) of every place where it stands."""
        found = []
        for name, profile in profiles.items():
            if self.constant.scope == "profile" and name != self.key:
                continue
            if self.constant.scope == "architecture" and ARCHITECTURE[name] != self.key:
                continue
            for family in profile["kernel_families"]:
                if self.constant.scope == "era" and (
                        (family in EARLY_FAMILIES) != (self.key == "early")):
                    continue
                if self.constant.scope == "family" and family != self.key:
                    continue
                release = ""
                if self.constant.scope.endswith("release"):
                    if family != self.key[0]:
                        continue
                    release = self.key[1]
                for pointer in self.constant.pointers:
                    place = pointer.format(family=family, release=release)
                    if at(profile, place) is not None and (name, place) not in found:
                        found.append((name, place))
        return found


def at(profile, pointer):
    node = profile
    for part in pointer.strip("/").split("/"):
        if not isinstance(node, dict) or part not in node:
            return None
        node = node[part]
    return node


def add_places(profiles, rows):
    """Optional fields that a constant needs, with neutral values."""
    for profile in profiles.values():
        for name, family in profile["kernel_families"].items():
            for field, value in (("loss_traffic", 1.0), ("gradient_traffic", 1.0),
                                 ("micro_batch_overhead_s", 0.05e-3)):
                family.setdefault(field, {"value": value, "spread": 0.3, "source": "prior"})
            for row in rows:
                if row["family"] == name and row["release"]:
                    family.setdefault("releases", {}).setdefault(
                        release_name(row),
                        {"value": 1.0, "spread": 0.06, "source": "prior"})


class Fit:
    def __init__(self, predictors, profiles):
        self.predictors, self.profiles = predictors, profiles
        self.rows = predictors[0].rows
        self.published = np.log([row["published_s"] for row in self.rows])
        groups = [row["group"] for row in self.rows]
        self.groups = np.array(groups)
        sizes = {group: groups.count(group) for group in set(groups)}
        self.weight = np.array([sizes[group] ** -0.25 for group in groups])
        self.free = []
        for constant in CONSTANTS:
            keys = [key_of(constant, row) for row in self.rows]
            for key in sorted({k for k in keys if k is not None}, key=str):
                if constant.median(key) is None or key in constant.fixed:
                    continue
                mine = np.array([k == key for k in keys])
                free = Free(constant, key, mine)
                free.where = free.places(profiles)
                if free.where:
                    self.free.append(free)
        self.prior = np.log([free.median for free in self.free])
        self.sigma = np.array([free.constant.sigma for free in self.free])
        self.low = np.log([free.constant.lower_bound(free.key) for free in self.free]) - 1e-9
        self.high = np.log([free.constant.most for free in self.free]) + 1e-9

    def changes(self, x):
        changed = {}
        for free, value in zip(self.free, np.exp(x)):
            for profile, pointer in free.where:
                within = min(max(value, free.constant.lower_bound(free.key)), free.constant.most)
                changed.setdefault(profile, {})[pointer + "/value"] = float(within)
        return changed

    def predict(self, x, predictor=None):
        return np.log((predictor or self.predictors[0])(self.changes(x)))

    def residuals(self, log_time, x, rows):
        r = (log_time - self.published)[rows] / SCALE
        r = np.sqrt(self.weight[rows]) * np.sign(r) * np.sqrt(2 * (np.sqrt(1 + r * r) - 1))
        return np.concatenate([r, (x - self.prior) / self.sigma])

    def jacobian(self, log_time, slopes, rows):
        r = (log_time - self.published)[rows] / SCALE
        size = np.sqrt(2 * (np.sqrt(1 + r * r) - 1))
        gain = np.where(np.abs(r) > 1e-6, np.abs(r) / np.sqrt(1 + r * r) / np.maximum(size, 1e-9),
                        1.0)
        top = (np.sqrt(self.weight[rows]) * gain / SCALE)[:, None] * slopes[rows]
        return np.vstack([top, np.diag(1.0 / self.sigma)])

    def solve(self, residuals, jacobian, start, evaluations):
        return least_squares(residuals, np.clip(start, self.low, self.high), jac=jacobian,
                             bounds=(self.low, self.high), x_scale=self.sigma,
                             max_nfev=evaluations)

    def slopes(self, x):
        """d log(time) / d x. Values of one constant belong to different rows: one prediction
        tells all their columns apart."""
        step = 1e-3
        columns = {}
        for i, free in enumerate(self.free):
            columns.setdefault(free.constant.name, []).append(i)
        base = self.predict(x)

        def one(job):
            number, members = job
            moved = x.copy()
            moved[members] += np.where(x[members] + step > self.high[members], -step, step)
            return members, moved, self.predict(moved, self.predictors[number])

        slopes = np.zeros((len(self.rows), len(x)))
        jobs = list(columns.values())
        count = len(self.predictors)

        def worker(number):
            return [one((number, members)) for members in jobs[number::count]]

        with ThreadPoolExecutor(count) as pool:
            for part in pool.map(worker, range(count)):
                for members, moved, log_time in part:
                    for i in members:
                        mine = self.free[i].rows
                        slopes[mine, i] = (log_time - base)[mine] / (moved[i] - x[i])
        return base, slopes

    def run(self, rows, start, evaluations=14):
        cache = {}

        def predicted(x):
            key = x.tobytes()
            if key not in cache:
                cache.clear()
                cache[key] = self.predict(x)
            return cache[key]

        solution = self.solve(lambda x: self.residuals(predicted(x), x, rows),
                              lambda x: self.jacobian(*self.slopes(x), rows), start, evaluations)
        spread = np.sqrt(np.diag(np.linalg.inv(solution.jac.T @ solution.jac)))
        return solution.x, spread


def kind_of(row):
    if row["task"] != "pretrain":
        return row["task"]
    return "experts" if row["experts"] else "dense"


def summary(rows, errors):
    table = {}
    lists = {"all": np.ones(len(rows), bool)}
    for name, tell in (("kind", kind_of), ("source", lambda r: r["source"]),
                       ("accelerator", lambda r: r["accelerator"]),
                       ("family", lambda r: r["family"])):
        for value in sorted({tell(row) for row in rows}):
            lists[f"{name} {value}"] = np.array([tell(row) == value for row in rows])
    for name, mine in lists.items():
        e = np.abs(errors[mine])
        table[name] = {"rows": int(mine.sum()), "mean": float(e.mean()),
                       "median": float(np.median(e)), "p90": float(np.quantile(e, 0.9)),
                       "worst": float(e.max()), "bias": float(errors[mine].mean()),
                       "log_p90": float(np.quantile(np.abs(np.log1p(errors[mine])), 0.9))}
    return table


def show(title, table):
    print(f"\n{title:<28}{'rows':>5}{'mean':>8}{'median':>8}{'p90':>8}{'worst':>8}{'bias':>8}"
          f"{'log p90':>9}")
    for name, row in table.items():
        print(f"{name[:27]:<28}{row['rows']:>5}" + "".join(
            f"{100 * row[k]:>7.1f}%" for k in ("mean", "median", "p90", "worst", "bias"))
              + f"{row['log_p90']:>9.3f}")


def write_fit(fit, x, spread, summary_line):
    sources = f"fitted over {len(fit.rows)} published training steps"
    for free, value, sigma in zip(fit.free, np.exp(x), spread):
        prior = f"prior {free.median:.3g} {free.constant.unit}".rstrip()
        for name, pointer in free.where:
            node = at(fit.profiles[name], pointer)
            node["value"] = float(f"{value:.4g}")
            node["spread"] = float(f"{min(SPREAD * sigma, 1.0):.2g}")
            node["source"] = (f"{sources}, {prior} +- {100 * free.constant.sigma:.0f} %, "
                              "see tests/validation")
    for profile in fit.profiles.values():
        efficiency = profile["device"]["gemm_efficiency"]
        if efficiency.get("tf32", {}).get("source", "").startswith("assumption: that of bf16"):
            efficiency["tf32"]["value"] = efficiency["bf16"]["value"]
        profile["provenance"]["fit"] = summary_line
    write_profiles(fit.profiles)


def folds_of(groups, count, partition=1):
    names = sorted(set(groups))
    order = np.random.default_rng(partition).permutation(len(names))
    fold = {names[j]: i % count for i, j in enumerate(order)}
    return np.array([fold[group] for group in groups])


def unseen_linear(fit, x, base, slopes, fold):
    """Errors on unseen rows where predictions are linear around the fit to all rows: `base` at x,
    with `slopes`."""
    unseen = np.zeros(len(fit.rows))
    for number in set(fold):
        seen = fold != number
        held = fit.solve(lambda y: fit.residuals(base + slopes @ (y - x), y, seen),
                         lambda y: fit.jacobian(base + slopes @ (y - x), slopes, seen),
                         fit.prior, 30).x
        log_time = base + slopes @ (held - x)
        unseen[~seen] = (np.exp(log_time - fit.published) - 1)[~seen]
    return unseen


def show_partitions(fit, base, slopes, x, folds, partitions):
    tables = [summary(fit.rows, unseen_linear(fit, x, base, slopes,
                                              folds_of(fit.groups, folds, partition)))
              for partition in range(1, partitions + 1)]
    print(f"\nunseen, linear, {partitions} partitions into {folds} folds\n{'':<15}"
          f"{'mean':>8}{'least':>8}{'most':>8}{'log p90':>9}")
    kinds = ["all"] + [name for name in tables[0] if name.startswith("kind ")]
    for name in kinds:
        means = 100 * np.array([table[name]["mean"] for table in tables])
        log_p90 = np.mean([table[name]["log_p90"] for table in tables])
        print(f"{name:<15}{means.mean():>7.1f}%{means.min():>7.1f}%{means.max():>7.1f}%"
              f"{log_p90:>9.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", required=True)
    parser.add_argument("--predictor", required=True)
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--partitions", type=int, default=0,
                        help="try so many partitions into folds, with predictions linear around "
                        "the fit, instead of one partition exactly")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--evaluations", type=int, default=14)
    parser.add_argument("--write", action="store_true", help="into calibrate/profiles")
    parser.add_argument("--report", help="JSON file for the errors")
    options = parser.parse_args()

    profiles = read_profiles(sorted(ARCHITECTURE))
    first = Predictor(options.predictor, options.rows)
    add_places(profiles, first.rows)
    write_profiles(profiles)  # so that the predictor finds every place
    predictors = [Predictor(options.predictor, options.rows) for _ in range(options.processes)]
    fit = Fit(predictors, profiles)
    everything = np.ones(len(fit.rows), bool)
    start = np.array([np.log(at(profiles[free.where[0][0]], free.where[0][1])["value"])
                      for free in fit.free])
    x, spread = fit.run(everything, start, options.evaluations)
    report = {"constants": len(fit.free)}
    errors = np.exp(fit.predict(x) - fit.published) - 1
    report["in_sample"] = summary(fit.rows, errors)
    show("in sample", report["in_sample"])
    sys.stdout.flush()
    report["rows"] = [{"id": row["id"], "error": float(e)} for row, e in zip(fit.rows, errors)]
    if options.write:
        write_fit(fit, x, spread, (
            f"the product's own model in closed form on {len(fit.rows)} published training steps, "
            f"mean error {100 * report['in_sample']['all']['mean']:.1f} % in sample "
            f"(tests/validation); spreads are {SPREAD} times the fit's sigma, as steps from one "
            "source err together"))
    if options.partitions:
        base, slopes = fit.slopes(x)
        show_partitions(fit, base, slopes, x, options.folds, options.partitions)
        sources = np.array([row["source"] for row in fit.rows])
        report["unseen_sources"] = [
            {"id": row["id"], "source": row["source"], "group": row["group"],
             "kind": kind_of(row), "error": float(e)}
            for row, e in zip(fit.rows, unseen_linear(fit, x, base, slopes, sources))]
    elif options.folds > 1:
        fold = folds_of(fit.groups, options.folds)
        unseen = np.zeros(len(fit.rows))
        for number in range(options.folds):
            seen = fold != number
            held, _ = fit.run(seen, fit.prior, options.evaluations)
            unseen[~seen] = (np.exp(fit.predict(held) - fit.published) - 1)[~seen]
        report["unseen"] = summary(fit.rows, unseen)
        show(f"unseen, {options.folds} folds", report["unseen"])
        report["unseen_errors"] = [{"id": row["id"], "error": float(e)}
                                   for row, e in zip(fit.rows, unseen)]
    if options.report:
        pathlib.Path(options.report).write_text(json.dumps(report, indent=1) + "\n")
    on_bound = [f"{free.constant.name} ({free.key})" for free, value, low, high
                in zip(fit.free, x, fit.low, fit.high)
                if min(value - low, high - value) < 1e-3]
    if on_bound:
        print("\non a bound: " + ", ".join(on_bound))


if __name__ == "__main__":
    main()
