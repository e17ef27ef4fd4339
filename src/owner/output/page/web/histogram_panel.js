// The tab of a histogram: how the values of one field, or durations, are spread. A bar can be selected.

import { clamp, cutText, element, Surface } from './dom.js';
import { Buckets, figuresOf, Selection, valuesOf } from './figures.js';
import { color } from './theme.js';
import { countText } from './text.js';
import { figureText } from './trace.js';

const kLeft = 12;
const kBottom = 34;
const kTop = 20;

export class HistogramPanel {
  constructor(app) {
    this.app = app;
    this.name = 'Histogram';
    this.hasSubject = true;
    this.at = -1; // the bar that the keys are at
  }

  show(content) {
    const { app } = this;
    const { values } = valuesOf(app.trace, app.subject, app.chosen);
    if (values.length === 0) {
      content.replaceChildren(element('p', { className: 'empty' }, 'Nothing that is selected has such a value.'));
      return;
    }
    this.buckets = new Buckets(values);
    this.figures = figuresOf(values);
    const counts = new Map();
    for (const value of values) {
      const bucket = this.buckets.of(value);
      counts.set(bucket, (counts.get(bucket) ?? 0) + 1);
    }
    const numbers = [...counts.keys()].reduce(
      ([a, b], each) => [Math.min(a, each), Math.max(b, each)],
      [Infinity, -Infinity],
    );
    this.first = numbers[0];
    this.counts = Array.from(
      { length: Math.min(4096, numbers[1] - numbers[0] + 1) },
      (_, i) => counts.get(this.first + i) ?? 0,
    );
    const canvas = element('canvas', { tabIndex: 0, role: 'img' });
    canvas.setAttribute('aria-label', `Histogram of ${app.subject.name}: arrow keys move, Enter selects`);
    content.replaceChildren(canvas);
    this.surface = new Surface(canvas);
    this.at = -1;
    this.#listen(canvas);
    this.draw();
  }

  barText(i) {
    const { low, high } = this.buckets.bounds(this.first + i);
    const text = (value) => figureText(this.app.trace, this.app.subject, value);
    const part = (100 * this.counts[i]) / this.figures.count;
    return `${text(low)} – ${text(high)}: ${countText(this.counts[i])} (${part.toFixed(1)} %)`;
  }

  draw() {
    if (!this.surface?.canvas.isConnected) return;
    const context = this.surface.begin();
    const { width, height } = this.surface;
    const room = height - kBottom - kTop;
    const bar = this.#barWidth(width);
    const most = Math.max(...this.counts);
    const { low } = this.buckets.bounds(this.first);
    const text = (value) => figureText(this.app.trace, this.app.subject, value);
    let free = kLeft;
    this.counts.forEach((count, i) => {
      const x = kLeft + i * bar;
      const tall = count === 0 ? 0 : Math.max(2, (count / most) * room);
      context.fillStyle = color(i === this.at ? '--mark' : '--accent');
      context.fillRect(x, kTop + room - tall, Math.max(1, bar - 1), tall);
      if (bar > 34 && count > 0) {
        context.fillStyle = color('--faint');
        context.fillText(cutText(context, countText(count), bar), x, kTop + room - tall - 8);
      }
      if (x < free) return;
      const label = text(this.buckets.bounds(this.first + i).low);
      const wide = context.measureText(label).width;
      if (x + wide > width) return;
      context.fillStyle = color('--faint');
      context.fillRect(x, kTop + room, 1, 4);
      context.fillText(label, x, kTop + room + 11);
      free = x + wide + 14;
    });
    context.fillStyle = color('--line');
    context.fillRect(kLeft, kTop + room, width - 2 * kLeft, 1);
    this.#drawPercentiles(context, bar, low, room, text);
    context.fillStyle = color('--text');
    const said =
      this.at >= 0 ? this.barText(this.at) : `${countText(this.figures.count)} values, mean ${text(this.figures.mean)}`;
    context.fillText(cutText(context, said, width - 2 * kLeft), kLeft, height - 9);
  }

  #drawPercentiles(context, bar, low, room, text) {
    let before = -99;
    ['p50', 'p90', 'p99', 'p99.9'].forEach((name, i) => {
      const value = this.figures.percentiles[i];
      const bucket = this.buckets.of(value);
      const bounds = this.buckets.bounds(bucket);
      const x = kLeft + (bucket - this.first + (value - bounds.low) / (bounds.high - bounds.low)) * bar;
      context.fillStyle = color('--mark');
      for (let y = kTop; y < kTop + room; y += 6) context.fillRect(x, y, 1.5, 3);
      const label = `${name} ${text(value)}`;
      const wide = context.measureText(label).width;
      const left = clamp(x - wide / 2, kLeft, this.surface.width - wide - kLeft);
      if (left < before) return;
      context.fillText(label, left, 9);
      before = left + wide + 10;
    });
  }

  #barWidth(width) {
    return (width - 2 * kLeft) / this.counts.length;
  }

  #select(i) {
    if (i < 0 || this.counts[i] === 0) return;
    const { low, high } = this.buckets.bounds(this.first + i);
    this.app.select(new Selection({ ...this.app.selection, subject: this.app.subject, low, high }));
  }

  #listen(canvas) {
    const barAt = (event) => {
      const i = Math.floor((event.offsetX - kLeft) / this.#barWidth(canvas.clientWidth));
      return i >= 0 && i < this.counts.length ? i : -1;
    };
    const move = (i) => {
      if (i === this.at) return;
      this.at = i;
      if (i >= 0) this.app.say(this.barText(i));
      this.draw();
    };
    canvas.addEventListener('pointermove', (event) => move(barAt(event)));
    canvas.addEventListener('pointerleave', () => move(-1));
    canvas.addEventListener('click', (event) => this.#select(barAt(event)));
    canvas.addEventListener('keydown', (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (step) move(clamp(this.at + step, 0, this.counts.length - 1));
      else if (event.key === 'Enter') this.#select(this.at);
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
  }
}
