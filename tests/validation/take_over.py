#!/usr/bin/env python3
"""Gives numbers that a profile has from another's the value that this one has now.

A source that begins with "estimate: that of h100_sxm" (or "assumption", "assumed"), and goes on
with nothing, a comma, a semicolon or a bracket, says that the number is the other profile's, whose
file has that name. The fit moves the other's; `fit.py --write` calls this at its end, and
tests/sim/costs/taken_over_test.cpp holds them together. Prints what it changes.

usage: take_over.py
"""
import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from profile_text import PROFILES, path_of, profile_text, read_profiles

TAKEN_OVER = re.compile(r"(?:estimate|assumption|assumed): that of ([a-z0-9_]+)(?:$|[,;]| \()")


def followers(value, path=()):
    """The estimates in a profile that are another's, with the other's name and their path."""
    if not isinstance(value, dict):
        return
    if "value" in value and "source" in value:
        if match := TAKEN_OVER.match(value["source"]):
            yield path, match[1], value
        return
    for key, member in value.items():
        yield from followers(member, path + (key,))


def at(value, path):
    for key in path:
        value = value.get(key, {})
    return value


def take_over():
    names = sorted(path.stem for path in (PROFILES / "accelerators").glob("*.json"))
    whole = read_profiles(names)
    for name in names:
        own = json.loads(path_of(name).read_text())
        changed = False
        for path, other, estimate in followers(own):
            if other not in whole:
                continue  # "that of bf16": of the same profile
            theirs = at(whole[other], path)
            if "value" not in theirs:
                raise SystemExit(f"{name}: {'/'.join(path)} is said to be {other}'s, which has none")
            if theirs["value"] != estimate["value"]:
                print(f"{name}: {'/'.join(path)} {estimate['value']} -> {theirs['value']}")
                estimate["value"] = theirs["value"]
                changed = True
        if changed:
            path_of(name).write_text(profile_text(own))


if __name__ == "__main__":
    take_over()
