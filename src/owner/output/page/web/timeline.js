// The time line: lanes with events and spans, counters, what was lost. Draws what is to be seen, and no more: a pixel
// asks the sorted times what is in it, so a frame costs as much for a million events as for a thousand.

import { clamp, cutText, Surface } from './dom.js';
import { color, hatch, kindColor, kindShape } from './theme.js';
import { roundStep, visibleText } from './text.js';
import { lowerBound, shortName, ValueKind } from './trace.js';

const kAxis = 22;
const kProcess = 20;
const kEvents = 20;
const kSpan = 16;
const kCounter = 44;
const kLost = 20;
const kNear = 6; // pixels
const kTouching = 0.35;

export class Timeline {
  constructor(canvas, app) {
    this.surface = new Surface(canvas);
    this.app = app;
    this.scroll = 0;
    this.hover = null; // {x, y}
    this.rareness = app.trace.types.map((type) => type.count);
    this.counters = counterTracks(app.trace);
    this.layout();
  }

  get gutter() {
    return clamp(this.surface.canvas.clientWidth * 0.18, 76, 190);
  }
  get plotWidth() {
    return Math.max(10, this.surface.canvas.clientWidth - this.gutter);
  }
  x(time) {
    const { begin, end } = this.app.view;
    return this.gutter + ((time - begin) / (end - begin)) * this.plotWidth;
  }
  timeAt(x) {
    const { begin, end } = this.app.view;
    return begin + ((x - this.gutter) / this.plotWidth) * (end - begin);
  }

  // The rows from top to bottom, each with its place.
  layout() {
    const rows = [];
    let y = 0;
    const add = (row, height) => {
      rows.push({ ...row, y, height });
      y += height;
    };
    if (this.app.trace.losses.length > 0 || this.app.more > 0) add({ kind: 'lost' }, kLost);
    for (const counter of this.counters) add({ kind: 'counter', counter }, kCounter);
    for (const process of this.app.lanes.processes) {
      add({ kind: 'process', process }, kProcess);
      if (!process.isOpen) continue;
      for (const lane of process.lanes) {
        const eventHeight = lane.events.length > 0 ? kEvents : 2;
        add({ kind: 'lane', lane, eventHeight }, eventHeight + lane.spanRows.length * kSpan + 3);
      }
    }
    this.rows = rows;
    this.contentHeight = y;
    this.laneRows = rows.filter(({ kind }) => kind === 'lane');
  }

  setScroll(scroll) {
    const room = this.surface.canvas.clientHeight - kAxis;
    this.scroll = clamp(scroll, 0, Math.max(0, this.contentHeight - room));
  }
  // So that this row is seen.
  reveal(row) {
    const room = this.surface.canvas.clientHeight - kAxis;
    if (row.y < this.scroll) this.setScroll(row.y - kProcess);
    else if (row.y + row.height > this.scroll + room) this.setScroll(row.y + row.height - room);
  }
  rowAt(y) {
    if (y < kAxis) return null;
    const at = y - kAxis + this.scroll;
    return this.rows.find((row) => at >= row.y && at < row.y + row.height) ?? null;
  }

  draw() {
    const context = this.surface.begin();
    this.setScroll(this.scroll);
    this.#drawGrid(context);
    context.save();
    context.beginPath();
    context.rect(0, kAxis, this.surface.width, this.surface.height - kAxis);
    context.clip();
    context.translate(0, kAxis - this.scroll);
    this.#drawSelection(context);
    this.#drawNotThere(context);
    for (const row of this.rows) {
      const isSeen = row.y + row.height >= this.scroll && row.y <= this.scroll + this.surface.height;
      if (isSeen) this.#drawRow(context, row);
    }
    context.restore();
    this.#drawFlow(context);
    this.#drawAxis(context);
    this.#drawPointer(context);
  }

  #drawRow(context, row) {
    context.fillStyle = color('--line');
    context.fillRect(0, row.y + row.height - 1, this.surface.width, 1);
    context.save();
    context.beginPath();
    context.rect(this.gutter, row.y, this.plotWidth, row.height);
    context.clip();
    if (row.kind === 'lane') this.#drawLane(context, row);
    if (row.kind === 'counter') this.#drawCounter(context, row);
    if (row.kind === 'lost') this.#drawLost(context, row);
    context.restore();
    this.#drawLabel(context, row);
  }

  #drawLabel(context, row) {
    const isCurrent = row.kind === 'lane' && row.lane === this.app.currentLane;
    const isChosen = row.kind === 'lane' && this.app.selection.lanes?.has(row.lane.number);
    context.fillStyle = color(row.kind === 'process' ? '--sunken' : '--raised');
    context.fillRect(0, row.y, row.kind === 'process' ? this.surface.width : this.gutter, row.height - 1);
    if (isChosen) {
      context.fillStyle = color('--select');
      context.fillRect(0, row.y, this.gutter, row.height - 1);
    }
    if (isCurrent) {
      context.fillStyle = color('--accent');
      context.fillRect(0, row.y, 4, row.height - 1);
    }
    const middle = row.y + Math.min(row.height, kEvents) / 2;
    const edge = row.kind === 'process' ? this.surface.width : this.gutter;
    const put = (text, left, faint) => {
      context.fillStyle = color(faint ? '--faint' : '--text');
      const cut = cutText(context, text, edge - left - 4);
      context.fillText(cut, left, middle);
      return left + context.measureText(cut).width + 6;
    };
    if (row.kind === 'process') {
      put(row.process.isOpen ? '▾' : '▸', 8, true);
      put(`${visibleText(row.process.name) || '?'} (process ${row.process.pid})`, 22);
    } else if (row.kind === 'lane') {
      const next = put(visibleText(row.lane.name) || '?', 14);
      if (next < this.gutter - 24) put(String(row.lane.tid), next, true);
    } else if (row.kind === 'counter') {
      put(row.counter.name, 14);
      const { least, most } = row.counter;
      context.fillStyle = color('--faint');
      context.fillText(
        cutText(context, `${row.counter.text(least)} – ${row.counter.text(most)}`, this.gutter - 18),
        14,
        middle + 15,
      );
    } else {
      context.fillStyle = color('--loss');
      context.fillText(cutText(context, '⚠ lost events', this.gutter - 18), 14, middle);
    }
  }

  // Events of a lane. Where a pixel has several, a bar says how many, in the colour of the rarest kind among some of
  // them; where there is room, each has its shape.
  #drawLane(context, row) {
    const { lane, eventHeight } = row;
    if (lane.events.length > 0) {
      this.#drawEvents(context, row);
      this.#drawHits(context, row);
    }
    lane.spanRows.forEach((spans, depth) => this.#drawSpans(context, spans, row.y + eventHeight + depth * kSpan));
  }

  #drawEvents(context, { lane, y, eventHeight }) {
    const { trace, view } = this.app;
    const { times, events } = lane;
    const bottom = y + eventHeight - 2;
    const from = lowerBound(times, view.begin);
    const to = lowerBound(times, view.end, from);
    const isSparse = to - from < this.plotWidth / 9;
    const perPixel = (view.end - view.begin) / this.plotWidth;
    const single = Math.log2(2);
    let at = from;
    let before = -99;
    while (at < to) {
      const pixel = Math.floor((times[at] - view.begin) / perPixel);
      let next = at + 1;
      if (next < to && times[next] < view.begin + (pixel + 1) * perPixel) {
        next = lowerBound(times, view.begin + (pixel + 1) * perPixel, next, to);
      }
      next = Math.max(next, at + 1);
      const kind = this.#rarest(trace, events, at, next);
      context.fillStyle = kindColor(kind);
      const x = this.gutter + pixel;
      if (isSparse && pixel - before > 9) {
        context.fillText(kindShape(kind), x - 4, y + eventHeight / 2);
        before = pixel;
      } else {
        const height = Math.min(eventHeight - 4, 7 + 1.6 * (Math.log2(next - at + 1) - single));
        context.fillRect(x, bottom - height, isSparse ? 2 : 1, height);
      }
      at = next;
    }
  }

  #rarest(trace, events, from, to) {
    let kind = trace.type[events[from]];
    const step = Math.max(1, Math.floor((to - from) / 8));
    for (let i = from + step; i < to; i += step) {
      const other = trace.type[events[i]];
      if (this.rareness[other] < this.rareness[kind]) kind = other;
    }
    return kind;
  }

  // A caret above each hit of the search, and the current event in a frame.
  #drawHits(context, { lane, y, eventHeight }) {
    const times = this.app.hitTimes(lane);
    const { view, trace, current } = this.app;
    const perPixel = (view.end - view.begin) / this.plotWidth;
    context.fillStyle = color('--mark');
    for (let at = lowerBound(times, view.begin); at < times.length && times[at] <= view.end;) {
      const pixel = Math.floor((times[at] - view.begin) / perPixel);
      const x = this.gutter + pixel + 0.5;
      context.beginPath();
      context.moveTo(x - 3, y);
      context.lineTo(x + 3, y);
      context.lineTo(x, y + 5);
      context.fill();
      at = Math.max(at + 1, lowerBound(times, view.begin + (pixel + 1) * perPixel, at));
    }
    if (current >= 0 && trace.thread[current] === lane.number) {
      context.strokeStyle = color('--text');
      context.lineWidth = 1.5;
      context.strokeRect(this.x(trace.time[current]) - 6, y + 1.5, 12, eventHeight - 4);
    }
  }

  #drawSpans(context, { spans, begins, ends }, y) {
    const { view, trace } = this.app;
    const { gutter, plotWidth } = this;
    const perPixel = (view.end - view.begin) / plotWidth;
    const narrow = new Bars(context, y + 1, kSpan - 2);
    let at = lowerBound(ends, view.begin);
    while (at < spans.length && begins[at] <= view.end) {
      const span = spans[at];
      const left = Math.max(gutter + (begins[at] - view.begin) / perPixel, gutter - 2);
      const right = Math.min(gutter + (ends[at] - view.begin) / perPixel, gutter + plotWidth + 2);
      const width = Math.max(1, right - left);
      const kind = trace.types.length + trace.spans.rule[span];
      if (width < 3) {
        narrow.add(left, left + width, kind);
      } else {
        narrow.draw();
        context.fillStyle = kindColor(kind);
        context.globalAlpha = 0.85;
        context.fillRect(left, y + 1, width - 0.5, kSpan - 2);
        context.globalAlpha = 1;
      }
      if (width > 26) this.#drawSpanText(context, span, left, width, y);
      if (span === this.app.currentSpan) {
        narrow.draw();
        context.strokeStyle = color('--text');
        context.lineWidth = 2;
        context.strokeRect(left + 1, y + 2, Math.max(2, width - 2), kSpan - 4);
      }
      // What ends within the same pixel is not to be seen beside it.
      const seen = view.begin + (Math.floor((ends[at] - view.begin) / perPixel) + 1) * perPixel;
      at = width > 1 ? at + 1 : Math.max(at + 1, lowerBound(ends, seen, at + 1));
    }
    narrow.draw();
  }

  #drawSpanText(context, span, left, width, y) {
    const { trace } = this.app;
    const { begin, end, key, rule } = trace.spans;
    const name = trace.rules.length > 1 ? `${visibleText(shortName(trace.rules[rule[span]].from))} ` : '';
    const text = `${name}${trace.text(key[span])} · ${trace.durationText(end[span] - begin[span])}`;
    context.fillStyle = color('--accent-text');
    context.fillText(cutText(context, text, width - 8), left + 4, y + kSpan / 2 + 0.5);
  }

  #drawCounter(context, { counter, y, height }) {
    const { view } = this.app;
    const { times, least, most } = counter;
    const scale = (height - 8) / (most - least || 1);
    const yOf = (value) => y + height - 4 - (value - least) * scale;
    context.strokeStyle = kindColor(counter.kind);
    context.fillStyle = kindColor(counter.kind);
    const perPixel = (view.end - view.begin) / this.plotWidth;
    let at = Math.max(0, lowerBound(times, view.begin) - 1);
    let lastY = null;
    context.lineWidth = 1.2;
    context.beginPath();
    while (at < times.length && times[at] <= view.end) {
      const pixel = Math.max(0, Math.floor((times[at] - view.begin) / perPixel));
      const next = Math.max(at + 1, lowerBound(times, view.begin + (pixel + 1) * perPixel, at));
      const [low, high] = counter.range(at, next);
      const x = this.gutter + pixel;
      if (lastY !== null) context.lineTo(x, lastY);
      context.moveTo(x, yOf(low));
      context.lineTo(x, yOf(high) - 0.5);
      lastY = yOf(counter.values[next - 1]);
      context.moveTo(x, lastY);
      at = next;
    }
    if (lastY !== null) context.lineTo(this.gutter + this.plotWidth, lastY);
    context.stroke();
  }

  // Where events are missing, over all lanes: they may have been anybody's.
  #drawNotThere(context) {
    const area = (begin, end, stroke) => {
      const left = Math.max(this.gutter, this.x(begin));
      const right = Math.min(this.gutter + this.plotWidth, this.x(end));
      if (right < this.gutter || left > this.gutter + this.plotWidth) return;
      context.fillStyle = hatch(context, stroke);
      context.globalAlpha = 0.28;
      context.fillRect(
        left,
        0,
        Math.max(2, right - left),
        Math.max(this.contentHeight, this.surface.height + this.scroll),
      );
      context.globalAlpha = 1;
    };
    for (const { begin, end } of this.app.merged(this.plotWidth)) area(begin, end, color('--loss'));
    if (this.app.more > 0) area(this.app.shownEnd, this.app.trace.end, color('--faint'));
  }

  #drawLost(context, { y, height }) {
    const put = (begin, end, text, ink) => {
      const left = Math.max(this.gutter, this.x(begin));
      const right = Math.min(this.gutter + this.plotWidth, this.x(end));
      if (right < this.gutter || left > this.gutter + this.plotWidth) return;
      const width = Math.max(3, right - left);
      context.fillStyle = hatch(context, ink);
      context.fillRect(left, y + 2, width, height - 5);
      context.strokeStyle = ink;
      context.lineWidth = 1;
      context.strokeRect(left + 0.5, y + 2.5, width - 1, height - 6);
      const room = Math.max(width, this.gutter + this.plotWidth - right) - 8;
      const cut = cutText(context, text, room);
      const at = width > context.measureText(cut).width + 8 ? left + 4 : left + width + 3;
      const wide = context.measureText(cut).width;
      context.fillStyle = color('--back');
      if (cut) context.fillRect(at - 2, y + 3, wide + 4, height - 7);
      context.fillStyle = ink;
      context.fillText(cut, at, y + height / 2);
    };
    for (const loss of this.app.merged(this.plotWidth)) put(loss.begin, loss.end, loss.text, color('--loss'));
    if (this.app.more > 0) put(this.app.shownEnd, this.app.trace.end, this.app.moreText, color('--faint'));
  }

  #drawSelection(context) {
    const { selection } = this.app;
    const marked = this.app.dragged ?? selection;
    if (marked.begin === null) return;
    const left = Math.max(this.gutter, this.x(marked.begin));
    const right = Math.min(this.gutter + this.plotWidth, this.x(marked.end));
    if (right < left) return;
    context.fillStyle = color('--select');
    const paint = (y, height) => context.fillRect(left, y, Math.max(1, right - left), height);
    if (marked.lanes === null) paint(0, Math.max(this.contentHeight, this.surface.height + this.scroll));
    else this.laneRows.forEach((row) => marked.lanes.has(row.lane.number) && paint(row.y, row.height));
    context.fillStyle = color('--accent');
    for (const x of [left, right]) context.fillRect(x - 0.5, 0, 1, this.contentHeight + this.surface.height);
  }

  // From a span to the event in another thread that ended it.
  #drawFlow(context) {
    const { currentSpan, trace } = this.app;
    if (currentSpan < 0) return;
    const { thread, endThread, begin, end } = trace.spans;
    if (thread[currentSpan] === endThread[currentSpan]) return;
    const place = (lane) => this.laneRows.find((row) => row.lane.number === lane);
    const [from, to] = [place(thread[currentSpan]), place(endThread[currentSpan])];
    if (!from || !to) return;
    const [x, y] = [this.x(end[currentSpan]), kAxis - this.scroll + from.y + from.eventHeight + kSpan / 2];
    const toY = kAxis - this.scroll + to.y + to.eventHeight / 2;
    if (this.x(begin[currentSpan]) > this.surface.width || x < this.gutter) return;
    context.strokeStyle = context.fillStyle = color('--text');
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(x, y);
    context.bezierCurveTo(x + 24, y, x + 24, toY, x + 6, toY);
    context.stroke();
    context.beginPath();
    context.moveTo(x + 1, toY);
    context.lineTo(x + 8, toY - 4);
    context.lineTo(x + 8, toY + 4);
    context.fill();
  }

  #tickStep() {
    const { view } = this.app;
    return roundStep(((view.end - view.begin) / this.plotWidth) * 96);
  }

  // Below what is drawn in lanes.
  #drawGrid(context) {
    const { view } = this.app;
    const step = this.#tickStep();
    context.fillStyle = color('--line');
    context.globalAlpha = 0.6;
    for (let tick = Math.ceil(view.begin / step) * step; tick <= view.end; tick += step) {
      context.fillRect(this.x(tick), kAxis, 1, this.surface.height);
    }
    context.globalAlpha = 1;
  }

  #drawAxis(context) {
    const { view, trace } = this.app;
    context.fillStyle = color('--raised');
    context.fillRect(0, 0, this.surface.width, kAxis);
    context.fillStyle = color('--line');
    context.fillRect(0, kAxis - 1, this.surface.width, 1);
    const step = this.#tickStep();
    for (let tick = Math.ceil(view.begin / step) * step; tick <= view.end; tick += step) {
      const x = this.x(tick);
      context.fillStyle = color('--line');
      context.fillRect(x, kAxis - 6, 1, 6);
      context.fillStyle = color('--faint');
      if (x < this.surface.width - 30)
        context.fillText(trace.durationText(Math.round(tick / step) * step, step), x + 3, 10);
    }
    context.fillStyle = color('--raised');
    context.fillRect(0, 0, this.gutter, kAxis - 1);
    context.fillStyle = color('--faint');
    context.fillText(cutText(context, `${trace.durationText(view.end - view.begin)} shown`, this.gutter - 14), 8, 10);
  }

  #drawPointer(context) {
    if (!this.hover || this.hover.x < this.gutter) return;
    const { trace, view } = this.app;
    const { x } = this.hover;
    context.fillStyle = color('--faint');
    context.fillRect(x, 0, 1, this.surface.height);
    const text = trace.durationText(this.timeAt(x), (view.end - view.begin) / this.plotWidth);
    const width = context.measureText(text).width + 8;
    const left = clamp(x - width / 2, this.gutter, this.surface.width - width);
    context.fillStyle = color('--accent');
    context.fillRect(left, 2, width, kAxis - 5);
    context.fillStyle = color('--accent-text');
    context.fillText(text, left + 4, kAxis / 2 - 0.5);
  }

  // The lanes from one height to another.
  lanesBetween(a, b) {
    const [top, bottom] = [Math.min(a, b), Math.max(a, b)].map((y) => y - kAxis + this.scroll);
    return this.laneRows.filter((row) => row.y + row.height > top && row.y < bottom).map((row) => row.lane.number);
  }

  // What is under the pointer: {row, event} or {row, span}, or {row} alone.
  under(x, y) {
    const row = this.rowAt(y);
    if (!row || row.kind !== 'lane' || x < this.gutter) return { row };
    const { lane } = row;
    const within = y - kAxis + this.scroll - row.y - row.eventHeight;
    const time = this.timeAt(x);
    if (within >= 0) {
      const depth = Math.floor(within / kSpan);
      const spans = lane.spanRows[depth];
      if (!spans) return { row };
      const slack = (this.timeAt(1) - this.timeAt(0)) * 2;
      const at = lowerBound(spans.ends, time - slack);
      return at < spans.spans.length && spans.begins[at] <= time + slack ? { row, span: spans.spans[at] } : { row };
    }
    const event = this.app.lanes.nearest(lane, time);
    const isNear = event >= 0 && Math.abs(this.x(this.app.trace.time[event]) - x) <= kNear;
    return isNear ? { row, event } : { row };
  }
}

// Bars a few pixels wide at one height: those of one kind that touch are drawn as one, as in a row that is full each pixel
// has one.
class Bars {
  constructor(context, y, height) {
    this.context = context;
    this.y = y;
    this.height = height;
    this.kind = -1;
  }

  add(left, right, kind) {
    if (kind === this.kind && left <= this.right + kTouching) {
      this.right = Math.max(this.right, right);
      return;
    }
    this.draw();
    this.kind = kind;
    this.left = left;
    this.right = right;
  }

  // What has been added.
  draw() {
    if (this.kind < 0) return;
    this.context.fillStyle = kindColor(this.kind);
    this.context.globalAlpha = 0.55;
    this.context.fillRect(this.left, this.y, this.right - this.left, this.height);
    this.context.globalAlpha = 1;
    this.kind = -1;
  }
}

// Tracks of --counter, with the least and the most of every 16, 256, … values, so that any stretch is looked up fast.
function counterTracks(trace) {
  const tracks = [];
  for (const { event, field: name } of trace.counters) {
    for (const type of trace.types.filter(({ fullName }) => fullName === event)) {
      const field = type.fields.find((each) => each.name === name);
      if (!field || field.kind === ValueKind.text) continue;
      const track = new Track(trace, type, field);
      if (track.values.length > 0) tracks.push(track);
    }
  }
  return tracks;
}

const kFan = 16;

class Track {
  constructor(trace, type, field) {
    this.name = `${visibleText(type.name)}.${visibleText(field.name)}`;
    this.kind = type.number;
    // What is no number, or no finite one, is no sample.
    const events = type.events.filter((_, row) => Number.isFinite(field.values[row]));
    this.times = Float64Array.from(events, (event) => trace.time[event]);
    this.values = field.values.filter(Number.isFinite);
    this.text = (value) =>
      /_ns$/u.test(field.name) ? trace.durationText(value) : String(Number(value.toPrecision(6)));
    this.levels = [];
    let below = { low: this.values, high: this.values };
    while (below.low.length > kFan) {
      const length = Math.ceil(below.low.length / kFan);
      const level = { low: new Float64Array(length).fill(Infinity), high: new Float64Array(length).fill(-Infinity) };
      for (let i = 0; i < below.low.length; ++i) {
        const to = Math.floor(i / kFan);
        if (below.low[i] < level.low[to]) level.low[to] = below.low[i];
        if (below.high[i] > level.high[to]) level.high[to] = below.high[i];
      }
      this.levels.push(level);
      below = level;
    }
    [this.least, this.most] = this.range(0, this.times.length);
  }

  range(from, to) {
    let low = Infinity;
    let high = -Infinity;
    const take = (level, i) => {
      const least = level < 0 ? this.values[i] : this.levels[level].low[i];
      const most = level < 0 ? this.values[i] : this.levels[level].high[i];
      if (least < low) low = least;
      if (most > high) high = most;
    };
    for (let level = -1; from < to; ++level) {
      const isTop = level + 1 >= this.levels.length;
      for (; from < to && (isTop || from % kFan !== 0); ++from) take(level, from);
      for (; from < to && (isTop || to % kFan !== 0); --to) take(level, to - 1);
      from /= kFan;
      to /= kFan;
    }
    return low <= high ? [low, high] : [0, 0];
  }
}
