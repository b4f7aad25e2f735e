"""Makes scenarios/validation/published_sync.json of a collection with one object a row.

    compact_published_sync.py FULL.json COMPACT.json

Texts that several rows share stand in tables; how a row may be tested is left out.
"""

import collections
import json
import sys

KEPT = ["id", "kind", "source", "link", "set-up", "metric", "value", "unit", "verified"]
TABLES = {"source": "sources", "set-up": "set-ups", "metric": "metrics"}


def compact(rows):
    tables = {name: {} for name in TABLES.values()}
    shared = {key: collections.Counter(row[key] for row in rows) for key in TABLES}
    made = []
    for row in rows:
        entry = {key: row[key] for key in KEPT}
        for key, table in TABLES.items():
            if shared[key][row[key]] < 2:
                continue
            names = {text: name for name, text in tables[table].items()}
            name = names.get(row[key], f"{key[0]}{len(names) + 1}")
            tables[table][name] = row[key]
            entry[key] = name
        made.append(entry)
    return tables, made


def main(full, out):
    with open(full, encoding="utf-8") as file:
        rows = json.load(file)
    tables, made = compact(rows)
    line = lambda value: json.dumps(value, ensure_ascii=False)
    with open(out, "w", encoding="utf-8") as file:
        file.write('{\n "schema": "headway/published-sync/1",\n')
        for name, table in tables.items():
            entries = ",\n".join(f"  {line(key)}: {line(text)}" for key, text in table.items())
            file.write(f" {line(name)}: {{\n{entries}\n }},\n")
        file.write(' "rows": [\n' + ",\n".join("  " + line(row) for row in made) + "\n ]\n}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
