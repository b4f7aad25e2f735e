"""What a fit found, in tables."""
import numpy as np


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
              + f"{row['log_p90']:>9.3f}", flush=True)


def folds_of(groups, count, partition):
    names = sorted(set(groups))
    order = np.random.default_rng(partition).permutation(len(names))
    fold = {names[j]: i % count for i, j in enumerate(order)}
    return np.array([fold[group] for group in groups])


def show_partitions(fit, linear, x, folds, partitions):
    """Errors on unseen configurations where predictions are linear around the fit to all rows."""
    base, slopes = linear
    tables = []
    for partition in range(1, partitions + 1):
        fold = folds_of(fit.groups, folds, partition)
        unseen = np.zeros(len(fit.rows))
        for number in range(folds):
            held, _ = fit.solve(linear, x, fold != number)
            log_time = base + slopes @ (held - x)
            unseen[fold == number] = (np.exp(log_time - fit.published) - 1)[fold == number]
        tables.append(summary(fit.rows, unseen))
    print(f"\nunseen, linear, {partitions} partitions into {folds} folds\n{'':<15}"
          f"{'mean':>8}{'least':>8}{'most':>8}{'log p90':>9}")
    for name in ["all"] + [name for name in tables[0] if name.startswith("kind ")]:
        means = 100 * np.array([table[name]["mean"] for table in tables])
        log_p90 = np.mean([table[name]["log_p90"] for table in tables])
        print(f"{name:<15}{means.mean():>7.1f}%{means.min():>7.1f}%{means.max():>7.1f}%"
              f"{log_p90:>9.3f}")


def constants_table(fit, x, spread, slopes):
    """Every free constant and what it rests on: rows whose time it changes, and their sources."""
    table = []
    for i, (constant, effect) in enumerate(fit.effects):
        told = np.abs(slopes[:, i]) > 1e-4
        table.append({
            "constant": constant.name, "of": effect.name, "factor": float(f"{np.exp(x[i]):.4g}"),
            "width": effect.width, "spread": float(f"{spread[i]:.2g}"), "rows": int(told.sum()),
            "configurations": len(set(fit.groups[told])), "sources": len(set(fit.sources[told]))})
    return table
