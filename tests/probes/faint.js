// Texts whose contrast with what is behind them is below 4.5, or 3 if they are large.
() => {
  const parse = (text) => (text.match(/[\d.]+/g) ?? []).map(Number);
  const shine = ([r, g, b]) => {
    const part = (v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgb = (text) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = text; canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data; return [r, g, b, a / 255]; };
  const behind = (it) => {
    for (let node = it; node; node = node.parentElement) {
      const style = getComputedStyle(node);
      const color = rgb(style.backgroundColor);
      if (color[3] > 0.99) return color;
      if (style.backgroundImage !== 'none') return null;
    }
    return rgb('white');
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const it = walker.currentNode.parentElement;
    const seen = it.checkVisibility({opacityProperty: true, visibilityProperty: true});
    if (!seen || !walker.currentNode.textContent.trim()) continue;
    if (it.closest('[disabled], .visually-hidden, [aria-hidden=true], svg, script, style, option, noscript')) continue;
    const box = it.getBoundingClientRect();
    if (box.width < 2 || box.height < 2) continue;
    const back = behind(it), style = getComputedStyle(it);
    if (!back) continue;
    const one = shine(rgb(style.color)), other = shine(back);
    const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    if (ratio < (large ? 3 : 4.5)) found.push(`${it.className} ${ratio.toFixed(2)} ${walker.currentNode.textContent.trim()}`);
  }
  return found;
}
