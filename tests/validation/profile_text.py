"""Writes a profile as the shipped ones are laid out: an estimate on a line of its own."""
import json


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
    return not isinstance(value, dict) or (value and "value" in value)


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
