// The tab of the heat map: how values are spread, as time goes on. Darker (in the dark: lighter) is more. A part of it
// can be selected by dragging, or by the keys.

import { clamp, cutText, element, Surface } from './dom.js';
import { Buckets, Selection, valuesOf } from './figures.js';
import { color, hatch, heatColor } from './theme.js';
import { countText, roundStep } from './text.js';
import { figureText } from './trace.js';

const kHeatLeft = 78;
const kHeatBottom = 22;
const kCell = 7;

export class HeatPanel {
  constructor(app) {
    this.app = app;
    this.name = 'Heat map';
    this.hasSubject = true;
  }

  show(content) {
    const { app } = this;
    const found = valuesOf(app.trace, app.subject, app.chosen);
    if (found.values.length === 0) {
      content.replaceChildren(element('p', { className: 'empty' }, 'Nothing that is selected has such a value.'));
      return;
    }
    this.found = found;
    const canvas = element('canvas', { tabIndex: 0, role: 'img' });
    canvas.setAttribute('aria-label', `Heat map of ${app.subject.name} over time: arrow keys move, Enter selects`);
    content.replaceChildren(canvas);
    this.surface = new Surface(canvas);
    this.buckets = new Buckets(found.values);
    this.cells = null;
    this.at = null; // {column, row}
    this.drag = null;
    this.#listen(canvas);
    this.draw();
  }

  #count(width) {
    const { app, found, buckets } = this;
    [this.begin, this.end] = app.selectedTime();
    this.columns = clamp(Math.floor((width - kHeatLeft) / kCell), 4, 400);
    const rows = new Float64Array(found.values.length);
    let [least, most] = [Infinity, -Infinity];
    for (let i = 0; i < rows.length; ++i) {
      rows[i] = buckets.of(found.values[i]);
      least = Math.min(least, rows[i]);
      most = Math.max(most, rows[i]);
    }
    this.first = least;
    this.rows = Math.min(512, most - least + 1);
    this.cells = new Uint32Array(this.columns * this.rows);
    this.most = 1;
    for (let i = 0; i < rows.length; ++i) {
      const column = Math.floor(((found.times[i] - this.begin) / (this.end - this.begin)) * this.columns);
      // A span that ends behind what is selected is in its last column.
      const cell = clamp(column, 0, this.columns - 1) * this.rows + Math.min(rows[i] - least, this.rows - 1);
      this.most = Math.max(this.most, ++this.cells[cell]);
    }
    this.countedFor = width;
  }

  #geometry() {
    const { width, height } = this.surface;
    return {
      width: width - kHeatLeft - 6,
      height: height - kHeatBottom - 6,
      cell: (height - kHeatBottom - 6) / this.rows,
    };
  }

  draw() {
    if (!this.surface?.canvas.isConnected) return;
    const context = this.surface.begin();
    if (!this.cells || this.countedFor !== this.surface.width) this.#count(this.surface.width);
    const { width, height, cell } = this.#geometry();
    const wide = width / this.columns;
    context.fillStyle = color('--sunken');
    context.fillRect(kHeatLeft, 4, width, height);
    const shades = Array.from({ length: 17 }, (_, i) => heatColor(0.12 + (0.88 * i) / 16));
    for (let column = 0; column < this.columns; ++column) {
      for (let row = 0; row < this.rows; ++row) {
        const count = this.cells[column * this.rows + row];
        if (count === 0) continue;
        context.fillStyle = shades[Math.round((16 * Math.log(count)) / Math.log(Math.max(2, this.most)))];
        context.fillRect(kHeatLeft + column * wide, 4 + height - (row + 1) * cell, wide - 0.5, Math.max(1, cell - 0.5));
      }
    }
    this.#drawLosses(context, width, height);
    this.#drawMarks(context, wide, height, cell);
    this.#drawAxes(context, width, height, cell);
  }

  #drawLosses(context, width, height) {
    context.fillStyle = hatch(context, color('--loss'));
    const x = (time) => kHeatLeft + clamp((time - this.begin) / (this.end - this.begin), 0, 1) * width;
    for (const { begin, end } of this.app.trace.losses) {
      if (end < this.begin || begin > this.end) continue;
      context.globalAlpha = 0.4;
      context.fillRect(x(begin), 4, Math.max(2, x(end) - x(begin)), height);
      context.globalAlpha = 1;
    }
  }

  #drawMarks(context, wide, height, cell) {
    const mark = this.drag ?? (this.at && { from: this.at, to: this.at });
    if (!mark) return;
    const { column, row, columns, rows } = span(mark);
    context.strokeStyle = color('--mark');
    context.lineWidth = 2;
    context.strokeRect(kHeatLeft + column * wide, 4 + height - (row + rows) * cell, columns * wide, rows * cell);
  }

  #drawAxes(context, width, height, cell) {
    const { app } = this;
    const text = (value) => figureText(app.trace, app.subject, value);
    context.fillStyle = color('--faint');
    const step = Math.max(1, Math.ceil(18 / cell));
    context.textAlign = 'right';
    for (let row = 0; row <= this.rows - (step > 1 ? 1 : 0); row += step) {
      const y = clamp(4 + height - row * cell, 10, 4 + height - 4);
      context.fillText(text(this.buckets.bounds(this.first + row).low), kHeatLeft - 6, y);
    }
    context.textAlign = 'left';
    const ticks = roundStep(((this.end - this.begin) / width) * 110);
    for (let tick = Math.ceil(this.begin / ticks) * ticks; tick <= this.end; tick += ticks) {
      const x = kHeatLeft + ((tick - this.begin) / (this.end - this.begin)) * width;
      if (this.at || x > kHeatLeft + width - 40) continue;
      context.fillRect(x, 4 + height, 1, 4);
      context.fillText(app.trace.durationText(Math.round(tick / ticks) * ticks, ticks), x + 3, height + 15);
    }
    if (!this.at) return;
    context.fillStyle = color('--text');
    context.fillText(cutText(context, this.cellText(this.at), width), kHeatLeft, height + 15);
  }

  cellText({ column, row }) {
    const { app } = this;
    const { low, high } = this.buckets.bounds(this.first + row);
    const wide = (this.end - this.begin) / this.columns;
    const from = this.begin + column * wide;
    const text = (value) => figureText(app.trace, app.subject, value);
    const count = this.cells[column * this.rows + row];
    return (
      `${countText(count)} of ${text(low)} – ${text(high)}, ` +
      `${app.trace.durationText(from, wide / 10)} – ${app.trace.durationText(from + wide, wide / 10)}`
    );
  }

  #select(mark) {
    const { column, row, columns, rows } = span(mark);
    const wide = (this.end - this.begin) / this.columns;
    this.app.select(
      new Selection({
        ...this.app.selection,
        begin: this.begin + column * wide,
        end: this.begin + (column + columns) * wide,
        subject: this.app.subject,
        low: this.buckets.bounds(this.first + row).low,
        high: this.buckets.bounds(this.first + row + rows - 1).high,
      }),
    );
  }

  #listen(canvas) {
    const cellAt = (event) => {
      const { width, height, cell } = this.#geometry();
      return {
        column: clamp(Math.floor(((event.offsetX - kHeatLeft) / width) * this.columns), 0, this.columns - 1),
        row: clamp(Math.floor((4 + height - event.offsetY) / cell), 0, this.rows - 1),
      };
    };
    canvas.addEventListener('pointerdown', (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.drag = { from: cellAt(event), to: cellAt(event) };
      this.draw();
    });
    canvas.addEventListener('pointermove', (event) => {
      this.at = cellAt(event);
      if (this.drag) this.drag.to = this.at;
      this.draw();
    });
    canvas.addEventListener('pointerup', () => {
      const { drag } = this;
      this.drag = null;
      if (drag) this.#select(drag);
    });
    canvas.addEventListener('pointerleave', () => {
      this.at = null;
      this.draw();
    });
    canvas.addEventListener('keydown', (event) => this.#key(event));
  }

  #key(event) {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (step) {
      const { column, row } = this.at ?? { column: 0, row: 0 };
      this.at = { column: clamp(column + step[0], 0, this.columns - 1), row: clamp(row + step[1], 0, this.rows - 1) };
      // With Shift the stretch grows.
      this.drag = event.shiftKey ? { from: this.drag?.from ?? { column, row }, to: this.at } : null;
      this.app.say(this.cellText(this.at));
      this.draw();
    } else if (event.key === 'Enter' && this.at) {
      const mark = this.drag ?? { from: this.at, to: this.at };
      this.drag = null;
      this.#select(mark);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}

// The corner and the size of what lies between two cells.
function span({ from, to }) {
  const column = Math.min(from.column, to.column);
  const row = Math.min(from.row, to.row);
  return { column, row, columns: Math.abs(from.column - to.column) + 1, rows: Math.abs(from.row - to.row) + 1 };
}
