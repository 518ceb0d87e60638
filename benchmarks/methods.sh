#!/usr/bin/env bash
# Makes the runs and the plot of docs/methods/index.md in the given folder: the first 20,000 games of each method, one
# thread, one seed. Takes about five minutes.
set -euo pipefail
folder=${1:?say where to put the runs, such as: benchmarks/methods.sh runs/methods}
mkdir -p "$folder"
learn() { afterstate train 2048 --network 4x6 --games 20k --threads 1 --quiet "$@"; }

learn --run "$folder/TD(0)"
learn --lambda 0.5 --run "$folder/TD(0.5)"
learn --steps 3 --run "$folder/3-step TD"
learn --method tc --run "$folder/TC(0)"
learn --method tc --lambda 0.5 --run "$folder/TC(0.5)"
learn --method tc --lambda 0.5 --order backward --run "$folder/TC(0.5) backward"
learn --method tc --lambda 0.5 --beside 5x4 --run "$folder/TC(0.5), 5x4 beside"

afterstate plot "$folder/TD(0)" "$folder/TD(0.5)" "$folder/3-step TD" "$folder/TC(0)" "$folder/TC(0.5)" \
    "$folder/TC(0.5) backward" "$folder/TC(0.5), 5x4 beside" -o "$folder/methods.png"
