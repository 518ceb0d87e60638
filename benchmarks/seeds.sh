#!/usr/bin/env bash
# TC(0.5) with five seeds, 4x6 with 2x4 beside, one thread and two, and 8x6 with one seed; docs/results.md tells which of these runs
# were made. By estimate an hour and a half.
# python benchmarks/table.py FOLDER prints what they reached.
set -euo pipefail
folder=${1:?say where to put the runs, such as: benchmarks/seeds.sh runs/seeds}
mkdir -p "$folder"
learn() { afterstate train 2048 --method tc --lambda 0.5 --quiet "$@"; }

for threads in 1 2; do
    for seed in 1 2 3 4 5; do
        learn --network 4x6 --beside 2x4 --schedule 80%:0.25,93%:0.05 --games 100k --threads $threads --seed $seed \
            --run "$folder/$threads threads, seed $seed"
    done
done
learn --network 8x6 --order backward --games 40k --threads 2 --run "$folder/8x6"
