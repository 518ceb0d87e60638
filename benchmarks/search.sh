#!/usr/bin/env bash
# What looking ahead gains and costs: the tables of docs/search.md. Takes about an hour and a half on two cores.
set -euo pipefail
folder=${1:?say where to put the runs, such as: benchmarks/search.sh runs/search}
mkdir -p "$folder"
train() { [ -d "$folder/$1" ] || afterstate train --recipe "$1" --quiet --run "$folder/$1" "${@:2}"; }
measure() { # NAME RUN OPTIONS...
    afterstate eval "$folder/$2" --seed 3 --json "${@:3}" > "$folder/$1.json"
    python - "$1" "$folder/$1.json" <<'PYTHON'
import json, sys
found = json.load(open(sys.argv[2]))
print(f"{sys.argv[1]:40} {found['mean']:>10,.0f} ± {found['interval']:<8,.0f} {found['moves_per_s']:>10,.0f} moves/s")
PYTHON
}

train quick --games 40k  # version 1 of the recipe
measure "depth 1" quick --games 300
for tile in 0 4096 8192 16384; do
    measure "depth 2, downgrade $tile" quick --games 300 --depth 2 --downgrade $tile
done
measure "depth 3, exact" quick --games 300 --depth 3 --exact --downgrade 8192
measure "depth 3" quick --games 600 --depth 3 --downgrade 8192
measure "depth 3, cutoff and rare" quick --games 300 --depth 3 --cutoff 0.02 --rare 0.5 --calm 0 --width 0 --downgrade 8192
measure "depth 3, width" quick --games 300 --depth 3 --cutoff 0.02 --rare 0.5 --calm 0 --width 2 --downgrade 8192
measure "depth 3, width and calm" quick --games 300 --depth 3 --cutoff 0.02 --rare 0.5 --calm 7 --width 2 --downgrade 8192
measure "depth 3, calm" quick --games 600 --depth 3 --cutoff 0.12 --rare 0.5 --calm 5 --width 0 --downgrade 8192
python "$(dirname "$0")/regret.py" "$folder/quick" --downgrade 8192
measure "10 ms a move" quick --games 20 --move-time 10ms --downgrade 8192

train threes-strong-1h
measure "threes, depth 2" threes-strong-1h --games 1000 --depth 2 --save "$folder/threes.txt"
afterstate judge "$folder/threes.txt" --version 2+
train threes-official-1h
measure "official, depth 1" threes-official-1h --games 2000
measure "official, depth 2" threes-official-1h --games 400 --depth 2
measure "official, depth 3" threes-official-1h --games 200 --depth 3
measure "official, depth 4" threes-official-1h --games 130 --depth 4
