#!/bin/sh
# The models that come with the package, made again: train as long as you like, cool down, compact, measure.
# usage: benchmarks/models.sh NAME [FOLDER]     NAME is 2048, threes or threes-tcg2022; `make models` prints the steps
#
# Each step may be stopped with Ctrl-C and goes on when the script is called again. One thread repeats a training of as many
# games bit for bit. The options of each training, the games and the hours it took are in the model's card: afterstate info NAME
set -eu
name=${1:?say which model: 2048, threes or threes-tcg2022}
work=${2:-runs/models}
run="$work/$name"
program="${AFTERSTATE:-afterstate}"
case $name in
  2048) options="2048 --network 8x6 --method tc --lambda 0.5 --stages 0,16384 --starts carousel" ;;
  threes) options="threes --rules official --network 8x6 --method tc --lambda 0.5" ;;
  threes-tcg2022) options="threes --rules tcg2022 --network 8x6 --method tc --lambda 0.5" ;;
  *) echo "no model is called $name: 2048, threes or threes-tcg2022" >&2; exit 3 ;;
esac
time=${TIME:-24h} cool=${COOL:-3h}

# 1. train with a full rate; --keep, so that it can be cooled down
if [ -e "$run/config.toml" ]; then
  $program train --run "$run" --resume --quiet
else
  $program train $options --time "$time" --threads 1 --seed 1 --block 5k --keep --quiet --run "$run"
fi
# 2. cool down, into a run of its own
if [ -e "$run-cooled/config.toml" ]; then
  $program train --run "$run-cooled" --resume --quiet
else
  $program train --run "$run" --cool-down "$cool" --into "$run-cooled" --quiet
fi
# 3. compact: the last weights, which have the lowest rate behind them
$program convert "$run-cooled/checkpoints/last.safetensors" "$work/$name.afs" --size-limit "${LIMIT:-60M}" --force
# 4. measure, for the card
for depth in 1 2 3; do
  $program eval "$work/$name.afs" --depth $depth --games 1000 --seed 2
done
for time in 10ms 100ms; do
  $program eval "$work/$name.afs" --move-time $time --games 100 --seed 2
done
echo "put $work/$name.afs and its card, $name.toml, into src/afterstate/models/"
