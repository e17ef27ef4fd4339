// Groups below each other, each with where its values lie: the darker, the more. Who is slow stands on top, marked.

import { clamp, cutText, Surface } from './dom.js';
import { countText, timeText, visibleText } from './text.js';
import { color, heatColor } from './theme.js';

const kRow = 18;
const kHead = 16;
const kSlow = 2; // times the middle group's p99

export function valueText({ isTime }, value) {
  return isTime ? timeText(value) : countText(Math.round(value));
}

export function groupName({ by }, { key }) {
  if (by.length === 0) return 'all';
  return key.map((value, i) => value || `(no ${by[i]})`).join(' ');
}

const p99 = (group) => group.percentiles[2];

// {group, middle, isSlow} of the slowest one; null where that says nothing.
export function slowestOf({ groups }) {
  if (groups.length < 2) return null;
  const sorted = groups.map(p99).sort((a, b) => a - b);
  const middle = sorted[Math.floor((sorted.length - 1) / 2)];
  return { group: groups[0], middle, isSlow: p99(groups[0]) > kSlow * middle };
}

export class HeatRows {
  constructor(canvas, told) {
    this.surface = new Surface(canvas);
    this.told = told;
    this.spreads = null;
    canvas.addEventListener('mousemove', (event) => this.#tell(event.offsetX, event.offsetY));
    canvas.addEventListener('mouseleave', () => this.told.replaceChildren());
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  show(spreads) {
    this.spreads = spreads;
    this.surface.canvas.hidden = spreads === null;
    if (spreads) this.surface.canvas.style.height = `${kHead + spreads.groups.length * kRow + 2}px`;
    this.draw();
  }

  #layout() {
    const numbers = this.spreads.groups.flatMap(({ columns }) => columns.map(([number]) => number));
    const first = Math.min(...numbers);
    const last = Math.max(...numbers);
    const { width } = this.surface;
    const names = clamp(width * 0.3, 60, 230);
    const values = 74;
    return { first, last, names, values, column: Math.max(1, (width - names - values) / (last - first + 1)) };
  }

  draw() {
    const { spreads } = this;
    if (!spreads || spreads.groups.length === 0) return;
    const context = this.surface.begin();
    const layout = this.#layout();
    const slowest = slowestOf(spreads);
    this.#drawHead(context, layout);
    spreads.groups.forEach((group, i) => {
      const isSlow = slowest !== null && p99(group) > kSlow * slowest.middle;
      this.#drawRow(context, layout, group, kHead + i * kRow, isSlow);
    });
  }

  // Where values are, as far as there is room for that.
  #drawHead(context, { first, last, names, column }) {
    context.fillStyle = color('--faint');
    const lows = new Map(this.spreads.groups.flatMap(({ columns }) => columns.map(([number, low]) => [number, low])));
    let free = names;
    for (let number = first; number <= last; ++number) {
      const x = names + (number - first) * column;
      if (x < free || !lows.has(number)) continue;
      const text = valueText(this.spreads, lows.get(number));
      context.fillText(text, x, kHead / 2);
      free = x + context.measureText(text).width + 18;
    }
  }

  #drawRow(context, { first, names, column, values }, group, top, isSlow) {
    const middle = top + kRow / 2;
    const { width } = this.surface;
    context.fillStyle = color(isSlow ? '--loss' : '--text');
    const name = `${isSlow ? '▲ ' : ''}${visibleText(groupName(this.spreads, group))}`;
    context.fillText(cutText(context, name, names - 8), 2, middle);
    context.fillText(valueText(this.spreads, p99(group)), width - values + 8, middle);
    context.fillStyle = color('--sunken');
    context.fillRect(names, top + 1, width - names - values, kRow - 2);
    const most = Math.max(...group.columns.map(([, , , count]) => count));
    for (const [number, , , count] of group.columns) {
      context.fillStyle = heatColor(0.15 + 0.85 * Math.sqrt(count / most));
      context.fillRect(names + (number - first) * column, top + 1, Math.max(1, column - 0.5), kRow - 2);
    }
  }

  #tell(x, y) {
    const group = this.spreads?.groups[Math.floor((y - kHead) / kRow)];
    if (!group || y < kHead) return this.told.replaceChildren();
    const { first, names, column } = this.#layout();
    const number = first + Math.floor((x - names) / column);
    const at = x < names ? undefined : group.columns.find(([each]) => each === number);
    const text = (value) => valueText(this.spreads, value);
    const figures = ['p50', 'p90', 'p99', 'p99.9'].map((name, i) => `${name} ${text(group.percentiles[i])}`).join(' ');
    const cell = at ? `   ${countText(at[3])} from ${text(at[1])} to ${text(at[2])}` : '';
    const name = groupName(this.spreads, group);
    this.told.textContent = visibleText(`${name}: ${countText(group.count)} times, ${figures}${cell}`);
  }
}
