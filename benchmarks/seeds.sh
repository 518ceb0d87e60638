#!/usr/bin/env bash
# TC(0.5): 4x6 with 5x4 beside, five seeds, one thread and two; 8x6 with one seed. Takes two hours on two cores.
# python benchmarks/table.py FOLDER prints the results.
set -euo pipefail
folder=${1:?say where to put the runs, such as: benchmarks/seeds.sh runs/seeds}
mkdir -p "$folder"
learn() { afterstate train 2048 --method tc --lambda 0.5 --quiet "$@"; }

for threads in 1 2; do
    for seed in 1 2 3 4 5; do
        learn --network 4x6 --beside 5x4 --schedule 60%:0.25,85%:0.05 --games 100k --threads $threads --seed $seed \
            --run "$folder/$threads threads, seed $seed"
    done
done
learn --network 8x6 --order backward --games 40k --threads 2 --run "$folder/8x6"
