"""Reads and writes the published profiles, an estimate on a line of its own.

A file a kind of accelerator holds what is its own and names the software that it runs; what all
accelerators share stands once, in the software's file. `read_profiles` gives whole profiles,
`write_profiles` takes them apart again.
"""
import json
import pathlib

PROFILES = pathlib.Path(__file__).resolve().parents[2] / "calibrate" / "profiles"
SOFTWARE = PROFILES / "software" / "published.json"
# never shared
OWN = {"schema", "name", "accelerator", "kind", "software", "kernels", "hardware", "nccl"}


def merged(own, shared):
    """`own`, and of `shared` what it has besides, in the order of a profile's parts."""
    if not isinstance(own, dict) or not isinstance(shared, dict) or "value" in own:
        return own
    return {key: merged(own[key], shared.get(key)) if key in own else shared[key]
            for key in list(own) + [key for key in shared if key not in own]}


def split(profiles, before):
    """What all of these share, and what is left of each. Of a number that was shared before and is
    not now, what most of them have is; any other stays as it was, for those that are like it and
    for accelerators outside of these."""
    shared, own = {}, [{} for _ in profiles]
    keys = [key for profile in profiles for key in profile]
    for key in dict.fromkeys(keys):
        members = [profile.get(key) for profile in profiles]
        if all(member == members[0] for member in members):
            shared[key] = members[0]
        elif all(isinstance(member, dict) and "value" not in member for member in members):
            common, rest = split(members, before.get(key, {}))
            if common:
                shared[key] = common
            for part, left in zip(own, rest):
                if left:
                    part[key] = left
        else:
            if key in before:
                most = max(members, key=members.count)
                is_usual = most is not None and 2 * members.count(most) > len(members)
                shared[key] = most if is_usual else before[key]
            for part, member in zip(own, members):
                if member is not None and member != shared.get(key):
                    part[key] = member
    return shared, own


def read_profiles(names):
    """Whole profiles of these accelerators, by name."""
    shared = {key: value for key, value in json.loads(SOFTWARE.read_text()).items()
              if key not in OWN}
    return {name: merged(json.loads(path_of(name).read_text()), shared) for name in names}


def write_profiles(profiles):
    """All of `read_profiles` at once: what they share is written once."""
    parts = [{key: value for key, value in profile.items() if key not in OWN}
             for profile in profiles.values()]
    shared, own = split(parts, json.loads(SOFTWARE.read_text()))
    SOFTWARE.write_text(profile_text(
        {"schema": "headway/software/1", "name": SOFTWARE.stem, **shared}))
    for (name, profile), part in zip(profiles.items(), own):
        head = {key: value for key, value in profile.items() if key in OWN}
        path_of(name).write_text(profile_text({**head, **part}))


def path_of(name):
    return PROFILES / "accelerators" / f"{name}.json"


def number(value):
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return json.dumps(value)
    if value == int(value) and abs(value) < 1e6:
        return str(int(value))
    if abs(value) >= 1e6:
        value = f"{value:.15e}"
        mantissa, exponent = value.split("e")
        return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"
    text = repr(value)
    if "e" in text:
        mantissa, exponent = text.split("e")
        text = f"{mantissa}e{int(exponent)}"
    return text


def is_leaf(value):
    return not isinstance(value, dict) or "value" in value or "count" in value


def line(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)}: {line(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(line(v) for v in value) + "]"
    return number(value)


def lines(value, indent):
    inner = indent + "  "
    parts = []
    for key, member in value.items():
        if isinstance(member, list) and member and isinstance(member[0], dict):
            rows = f",\n{inner}  ".join(line(row) for row in member)
            text = f"[\n{inner}  {rows}\n{inner}]"
        else:
            text = line(member) if is_leaf(member) else lines(member, inner)
        parts.append(f"{inner}{json.dumps(key, ensure_ascii=False)}: {text}")
    return "{\n" + ",\n".join(parts) + f"\n{indent}}}"


def profile_text(profile):
    return lines(profile, "") + "\n"
