"""Print the results of all runs in a folder, such as those of benchmarks/results.sh: python benchmarks/table.py runs/results"""

import sys
from pathlib import Path

from afterstate.learning.runfolder import RunFolder

POINTS = (10_000, 20_000, 40_000, 100_000)


def main(folder: Path) -> None:
    print("| run | block mean at 10k | 20k | 40k | 100k | last block | learning off, at the end | win tile | training |")
    print("|---|---|---|---|---|---|---|---|---|")
    for path in sorted(path for path in folder.iterdir() if path.is_dir()):
        records = RunFolder.open(path).read_metrics()
        blocks = {record["games"]: record for record in records if record["kind"] == "block"}
        evals = [record for record in records if record["kind"] == "eval"]
        means = [f"{blocks[point]['mean']:,.0f}" if point in blocks else "" for point in POINTS]
        last = f"{blocks[max(blocks)]['mean']:,.0f} ({max(blocks):,} games)" if blocks else ""
        measured = f"{evals[-1]['mean']:,.0f} ± {evals[-1]['interval']:,.0f} | {evals[-1]['win_rate']:.1%}" if evals else " | "
        print(f"| {path.name} | {' | '.join(means)} | {last} | {measured} | {records[-1]['training_seconds']:.0f} s |")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
