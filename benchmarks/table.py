"""Print the table of docs/results.md from the runs that benchmarks/results.sh made: python benchmarks/table.py runs/results"""

import sys
from pathlib import Path

from afterstate.learning.runfolder import RunFolder

POINTS = (10_000, 20_000, 100_000)


def main(folder: Path) -> None:
    print("| run | block mean at 10k | 20k | 100k | learning off, 1000 games, at the end | 2048 | training |")
    print("|---|---|---|---|---|---|---|")
    for path in sorted(path for path in folder.iterdir() if path.is_dir()):
        records = RunFolder.open(path).read_metrics()
        blocks = {record["games"]: record for record in records if record["kind"] == "block"}
        last = [record for record in records if record["kind"] == "eval"][-1]
        means = [f"{blocks[point]['mean']:,.0f}" if point in blocks else "" for point in POINTS]
        measured = f"{last['mean']:,.0f} ± {last['interval']:,.0f} | {last['win_rate']:.1%}"
        print(f"| {path.name} | {' | '.join(means)} | {measured} | {last['training_seconds']:.0f} s |")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
