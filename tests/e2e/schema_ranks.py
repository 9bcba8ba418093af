"""What schema.py says of a report's `run.ranks`."""

RANK = ["job", "rank", "local_rank", "world_size", "source", "processes"]
EXAMPLE = [dict(zip(RANK, ("", 3, None, 4, "slurm", 2)))]
# What breaks the rules, as changes of a report.
WRONG = {
    "a rank of nobody": lambda r: r["run"]["ranks"][0].update(processes=0),
    "a rank below none": lambda r: r["run"]["ranks"][0].update(rank=-1),
}


def check_ranks(bad, ranks):
    for row in ranks:
        bad.fields("a rank", RANK, row)
        numbers = [row[key] for key in ("rank", "local_rank", "world_size")]
        if not all(n is None or (type(n) is int and n >= 0) for n in numbers) or row["processes"] < 1:
            bad.append(f"ranks of the run: {row}")
