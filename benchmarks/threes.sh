#!/usr/bin/env bash
# Threes!: what each part of the context gains in equal time, and the recipes. The runs of docs/threes.md; takes about three hours.
# python benchmarks/table.py FOLDER prints the results.
set -euo pipefail
folder=${1:?say where to put the runs, such as: benchmarks/threes.sh runs/threes}
mkdir -p "$folder"
learn() { afterstate train threes --method tc --lambda 0.5 --block 2k --threads 2 --quiet "$@"; }

for context in hint swap+hint entry+hint swap+entry swap+entry+hint swap+entry+hint+bag; do
    learn --time 4m --context $context --run "$folder/$context"
done
learn --time 4m --network 8x6 --run "$folder/8x6"
learn --time 4m --beside 5x4 --run "$folder/5x4 beside"
learn --time 4m --stages 0,768,3072 --run "$folder/stages"
for recipe in threes-quick threes-strong-1h threes-official-1h; do
    afterstate train --recipe $recipe --quiet --run "$folder/$recipe"
    afterstate eval "$folder/$recipe" --games 2000 --seed 2 --save "$folder/$recipe.txt"
done
afterstate judge "$folder/threes-quick.txt" --version 2
