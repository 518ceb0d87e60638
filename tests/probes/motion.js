// How each tile of some slides moved, by the page's own reckoning.
async ({ frames, first, rows, columns }) => {
  const { slideMoves } = await import("/motion.js");
  let before = first;
  return frames.map(({ slide, after, tiles }) => {
    const moves = slideMoves({ before, after, slide, rows, columns });
    before = tiles;
    return moves;
  });
}
