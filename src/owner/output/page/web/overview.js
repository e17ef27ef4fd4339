// The whole recording in one strip: how many events when, what is shown below, what is selected, what was lost.

import { Surface } from './dom.js';
import { color, hatch } from './theme.js';
import { lowerBound } from './trace.js';

const kRight = 6; // pixels behind the end

export class Overview {
  constructor(canvas, app) {
    this.surface = new Surface(canvas);
    this.app = app;
    this.bins = null;
    this.#listen(canvas);
  }

  // Times stand above those of the lanes when all is shown.
  get #left() {
    return this.app.timeline.gutter;
  }
  x(time) {
    const { begin, end } = this.app.trace;
    return this.#left + ((time - begin) / (end - begin)) * (this.surface.canvas.clientWidth - this.#left - kRight);
  }
  timeAt(x) {
    const { begin, end } = this.app.trace;
    return begin + ((x - this.#left) / (this.surface.canvas.clientWidth - this.#left - kRight)) * (end - begin);
  }

  draw() {
    const context = this.surface.begin();
    const { width, height } = this.surface;
    context.fillStyle = color('--sunken');
    context.fillRect(0, 0, width, height);
    this.#drawEvents(context);
    this.#drawHits(context);
    const { view, selection, trace } = this.app;
    for (const { begin, end } of this.app.merged(width, true)) {
      context.fillStyle = color('--loss');
      context.fillRect(this.x(begin), 0, Math.max(2, this.x(end) - this.x(begin)), 4);
      context.fillStyle = hatch(context, color('--loss'));
      context.fillRect(this.x(begin), 0, Math.max(2, this.x(end) - this.x(begin)), height);
    }
    if (this.app.more > 0) {
      context.fillStyle = hatch(context, color('--faint'));
      context.fillRect(this.x(this.app.shownEnd), 0, width, height);
    }
    if (selection.begin !== null) {
      context.fillStyle = color('--select');
      context.fillRect(
        this.x(selection.begin),
        0,
        Math.max(1, this.x(selection.end) - this.x(selection.begin)),
        height,
      );
    }
    const left = Math.max(this.#left - 1, this.x(view.begin));
    const right = Math.min(width - 1, this.x(view.end));
    context.fillStyle = color('--back');
    context.globalAlpha = 0.62;
    context.fillRect(this.#left, 0, left - this.#left, height);
    context.fillRect(right, 0, width - right, height);
    context.globalAlpha = 1;
    context.strokeStyle = color('--accent');
    context.lineWidth = 2;
    context.strokeRect(left, 1, Math.max(4, right - left), height - 2);
    context.fillStyle = color('--text');
    if (trace.count === 0) context.fillText('No events', this.#left + 10, height / 2);
  }

  #drawEvents(context) {
    const { width, height } = this.surface;
    const columns = Math.max(1, Math.ceil(width - this.#left - kRight));
    if (this.bins?.length !== columns) this.#count(columns);
    const most = Math.log2(1 + this.bins.reduce((a, b) => Math.max(a, b), 1));
    context.fillStyle = color('--faint');
    this.bins.forEach((count, i) => {
      const tall = count === 0 ? 0 : 2 + (Math.log2(1 + count) / most) * (height - 10);
      context.fillRect(this.#left + i, height - 2 - tall, 1, tall);
    });
    if (this.#left < 100) return;
    context.fillText('all events', 14, height / 2);
  }
  #count(columns) {
    const { trace } = this.app;
    this.bins = new Uint32Array(columns);
    for (let i = 0, at = 0; i < columns; ++i) {
      const next = i + 1 === columns ? trace.count : lowerBound(trace.time, this.timeAt(this.#left + i + 1), at);
      this.bins[i] = next - at;
      at = next;
    }
  }

  #drawHits(context) {
    const { hits, trace } = this.app;
    if (!hits) return;
    context.fillStyle = color('--mark');
    let before = -1;
    const step = Math.max(1, Math.floor(hits.length / 20000));
    for (let i = 0; i < hits.length; i += step) {
      const x = Math.floor(this.x(trace.time[hits[i]]));
      if (x !== before) context.fillRect(x, 0, 1, 7);
      before = x;
    }
  }

  // Drag marks what to show; a click moves it there.
  #listen(canvas) {
    let from = null;
    canvas.addEventListener('pointerdown', (event) => {
      from = event.offsetX;
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener('pointermove', (event) => {
      if (from === null || Math.abs(event.offsetX - from) < 4) return;
      const [a, b] = [this.timeAt(from), this.timeAt(event.offsetX)];
      this.app.show(Math.min(a, b), Math.max(a, b));
    });
    canvas.addEventListener('pointerup', (event) => {
      if (from !== null && Math.abs(event.offsetX - from) < 4) this.app.centre(this.timeAt(event.offsetX));
      from = null;
    });
  }
}
