// Light and dark, and what tells events apart: a colour and a shape each, so that neither is needed.

let colors = null;
let kinds = null;

// The page's colours by their names in style.css: color('--text').
export function color(name) {
  colors ??= getComputedStyle(document.documentElement);
  return colors.getPropertyValue(name).trim();
}

export function isDark() {
  return document.documentElement.dataset.theme === 'dark';
}

// Follows the system until the user chooses.
export function startTheme(changed) {
  const system = matchMedia('(prefers-color-scheme: dark)');
  let chosen = false;
  const set = (dark) => {
    document.documentElement.dataset.theme = dark ? 'dark' : 'light';
    colors = kinds = null;
    changed();
  };
  system.addEventListener('change', () => chosen || set(system.matches));
  set(system.matches);
  return () => {
    chosen = true;
    set(!isDark());
  };
}

// Neighbours differ in lightness, too: they stay apart in print and for who sees no colours.
const light = ['#2166c2', '#c2571a', '#2c8553', '#9a3fb0', '#b8860b', '#008b98', '#c4305f', '#7d5a2e'];
const dark = ['#6fb1ff', '#ffa860', '#6fd39a', '#d896ec', '#ecc94b', '#55d0dc', '#ff8fb0', '#d9b48a'];

export function kindColor(kind) {
  kinds ??= isDark() ? dark : light;
  return kinds[kind % kinds.length];
}

export const kShapes = ['●', '▲', '■', '◆', '▼', '✚', '✖', '★', '○', '△', '□', '◇', '▽'];

export function kindShape(kind) {
  return kShapes[kind % kShapes.length];
}

const patterns = new Map();

// Slanted lines, for what is not there.
export function hatch(context, stroke) {
  const key = stroke;
  if (!patterns.has(key)) {
    const tile = document.createElement('canvas');
    tile.width = tile.height = 8;
    const draw = tile.getContext('2d');
    draw.strokeStyle = stroke;
    draw.lineWidth = 1.5;
    draw.beginPath();
    for (const at of [-8, 0, 8]) {
      draw.moveTo(at, 8);
      draw.lineTo(at + 8, 0);
    }
    draw.stroke();
    patterns.set(key, context.createPattern(tile, 'repeat'));
  }
  return patterns.get(key);
}

// Between the two ends of the heat map's scale; `part` from 0 to 1.
export function heatColor(part) {
  const [low, high] = ['--heat-low', '--heat-high'].map((name) => channels(color(name)));
  return `rgb(${low.map((each, i) => Math.round(each + (high[i] - each) * part)).join(' ')})`;
}

function channels(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}
