// Events a second over the last minute, and where some were lost.

import { cutText, Surface } from './dom.js';
import { countText } from './text.js';
import { color } from './theme.js';

const kPoints = 240;
const kPoint_ms = 250;

export class RateChart {
  constructor(canvas) {
    this.surface = new Surface(canvas);
    this.points = []; // {rate, lost}
    this.before = null; // {time, count, lost}
    this.rate = 0;
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  // Counts since the beginning. True: there is another point.
  add(count, lost, now) {
    this.before ??= { time: now, count, lost };
    const passed = now - this.before.time;
    if (passed < kPoint_ms) return false;
    this.rate = ((count - this.before.count) * 1000) / passed;
    this.points.push({ rate: this.rate, lost: lost - this.before.lost });
    if (this.points.length > kPoints) this.points.shift();
    this.before = { time: now, count, lost };
    this.draw();
    return true;
  }

  draw() {
    const context = this.surface.begin();
    const { width, height } = this.surface;
    const most = this.points.reduce((highest, { rate }) => Math.max(highest, rate), 1);
    const wide = width / kPoints;
    const from = kPoints - this.points.length;
    this.points.forEach(({ rate, lost }, i) => {
      const tall = rate === 0 ? 0 : Math.max(1, (rate / most) * (height - 18));
      context.fillStyle = color('--accent');
      context.fillRect((from + i) * wide, height - tall, Math.max(1, wide - 0.5), tall);
      context.fillStyle = color('--loss');
      if (lost > 0) context.fillRect((from + i) * wide, 0, Math.max(2, wide), 5);
    });
    context.fillStyle = color('--faint');
    context.fillText(
      cutText(context, `last minute, at most ${countText(Math.round(most))} a second`, width - 16),
      8,
      9,
    );
  }
}
