#!/usr/bin/env bash
# The runs that would show TC(0.5) with five seeds, 4x6 with one thread and two, and 8x6 with one seed; docs/results.md tells which of
# them were made. By estimate an hour and a half.
# python benchmarks/table.py FOLDER prints what they reached.
set -euo pipefail
folder=${1:?say where to put the runs, such as: benchmarks/seeds.sh runs/seeds}
mkdir -p "$folder"
learn() { afterstate train 2048 --method tc --lambda 0.5 --quiet "$@"; }

for threads in 1 2; do
    for seed in 1 2 3 4 5; do
        learn --network 4x6 --games 100k --threads $threads --seed $seed --run "$folder/4x6, $threads threads, seed $seed"
        learn --network 4x6 --beside 5x4 --games 100k --threads $threads --seed $seed --run "$folder/4x6 and 5x4, $threads threads, seed $seed"
    done
done
learn --network 8x6 --games 40k --threads 2 --run "$folder/8x6"
