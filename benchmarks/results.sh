#!/usr/bin/env bash
# Makes the runs and plots for TD(0) in docs/results.md, in the given folder. Takes about ten minutes on two cores.
set -euo pipefail
folder=${1:?say where to put the runs, such as: benchmarks/results.sh runs/results}
mkdir -p "$folder"
learn() { afterstate train 2048 --network 4x6 --quiet "$@"; }

learn --games 100k --threads 1 --eval-every 10k --run "$folder/one thread"
learn --games 100k --threads 2 --eval-every 10k --run "$folder/two threads"
learn --games 20k --threads 2 --target state --eval-every 5k --run "$folder/states"
learn --games 20k --threads 2 --eval-every 5k --run "$folder/afterstates"
learn --games 100k --threads 2 --symmetry 4 --eval-every 10k --run "$folder/4 isomorphisms"
learn --games 100k --threads 2 --symmetry 1 --eval-every 10k --run "$folder/no isomorphisms"
learn --games 100k --threads 2 --order backward --eval-every 10k --run "$folder/backward"
learn --games 100k --threads 2 --alpha 0.5 --schedule 50%:0.25,80%:0.05,95%:0.01 --eval-every 10k --run "$folder/large steps first"

afterstate plot "$folder/one thread" "$folder/two threads" "$folder/backward" "$folder/large steps first" -o "$folder/learning.png"
afterstate plot "$folder/states" "$folder/afterstates" -o "$folder/states.png"
afterstate plot "$folder/two threads" "$folder/4 isomorphisms" "$folder/no isomorphisms" -o "$folder/isomorphisms.png"
