// The last events, by thread and time: follows what comes, or stands still to be looked at.

import { byId, clamp, cutText, Surface } from './dom.js';
import { readTimeline } from './server.js';
import { countText, roundStep, timeText, visibleText } from './text.js';
import { color, kindColor } from './theme.js';

const kNames = 170; // pixels on the left
const kTop = 18;
const kLane = 15;
const kStart_us = 2_000_000;
const kLeast_us = 5;
const kMost_us = 600_000_000;
const kAskEvery_ms = 250;

export class TimelinePanel {
  constructor(live) {
    this.live = live;
    this.length = kStart_us;
    this.from = null; // µs; null: follows
    this.part = null; // what the server has said
    this.at = null; // of the mouse
    this.isAsking = false;
    this.isWanted = false;
    this.isUnanswered = false; // the newest wish
    this.canvas = byId('timeline');
    this.surface = new Surface(this.canvas);
    this.follow = byId('follow');
    this.follow.addEventListener('click', () => this.#set(this.from === null ? this.part?.from : null));
    this.canvas.addEventListener('wheel', (event) => this.#wheel(event), { passive: false });
    this.canvas.addEventListener('pointerdown', (event) => this.#begin(event));
    this.canvas.addEventListener('pointermove', (event) => this.#move(event));
    this.canvas.addEventListener('pointerup', () => (this.drag = null));
    this.canvas.addEventListener('pointerleave', () => {
      this.at = null;
      this.draw();
    });
    this.canvas.addEventListener('keydown', (event) => this.#key(event));
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    setInterval(() => (this.from === null || this.isUnanswered) && this.#ask(), kAskEvery_ms);
  }

  get #width() {
    return Math.max(1, this.canvas.clientWidth - kNames);
  }

  #set(from, length = this.length) {
    this.length = clamp(length, kLeast_us, kMost_us);
    this.from = from === null || from === undefined ? null : Math.max(0, from);
    this.follow.setAttribute('aria-pressed', String(this.from === null));
    this.#ask();
  }

  // One question at a time; the newest wish is asked when the answer is there.
  async #ask() {
    this.isUnanswered = true;
    if (document.hidden || !this.live.isConnected) return;
    this.isWanted = true;
    if (this.isAsking) return;
    this.isAsking = true;
    while (this.isWanted) {
      this.isWanted = false;
      const columns = Math.floor(this.#width / 2);
      const part =
        this.from === null
          ? { from: Math.round(this.length), columns }
          : { from: Math.round(this.from), to: Math.round(this.from + this.length), columns };
      const answer = await readTimeline(part).catch(() => null);
      this.isUnanswered = answer === null;
      this.part = answer ?? this.part;
      this.draw();
    }
    this.isAsking = false;
  }

  // Makes the part longer by that, around a pixel.
  zoom(factor, x = kNames + this.#width) {
    if (!this.part) return;
    const place = clamp((x - kNames) / this.#width, 0, 1);
    const length = clamp(this.length * factor, kLeast_us, kMost_us);
    // While it follows, its end stays the newest.
    if (this.from === null && place > 0.97) return this.#set(null, length);
    const from = this.from ?? this.part.from;
    this.#set(from + place * (this.length - length), length);
  }
  pan(pixels) {
    if (this.part) this.#set((this.from ?? this.part.from) + (pixels / this.#width) * this.length);
  }

  #wheel(event) {
    event.preventDefault();
    if (event.shiftKey) this.pan(event.deltaY + event.deltaX);
    else this.zoom(1.2 ** Math.sign(event.deltaY), event.offsetX);
  }
  #begin(event) {
    this.drag = event.offsetX;
    this.canvas.setPointerCapture(event.pointerId);
  }
  #move(event) {
    this.at = { x: event.offsetX, y: event.offsetY };
    if (this.drag !== null && this.drag !== undefined && event.offsetX !== this.drag) {
      this.pan(this.drag - event.offsetX);
      this.drag = event.offsetX;
    }
    this.draw();
  }
  #key(event) {
    const step = this.#width / 5;
    const acts = {
      '+': () => this.zoom(1 / 1.5, kNames + this.#width / 2),
      '-': () => this.zoom(1.5, kNames + this.#width / 2),
      ArrowLeft: () => this.pan(-step),
      ArrowRight: () => this.pan(step),
      End: () => this.#set(null),
    };
    if (!acts[event.key] || event.ctrlKey || event.altKey) return;
    event.preventDefault();
    acts[event.key]();
  }

  #laneTop(lane) {
    return kTop + lane * kLane;
  }

  draw() {
    const context = this.surface.begin();
    const { part } = this;
    if (!part) return;
    const { width, height } = this.surface;
    const length = part.to - part.from;
    const xOf = (us) => kNames + (us / length) * this.#width;
    this.#drawTimes(context, length, xOf);
    part.lanes.forEach(([tid, , comm], lane) => {
      const top = this.#laneTop(lane);
      context.fillStyle = color('--line');
      context.fillRect(0, top + kLane - 1, width, 0.5);
      context.fillStyle = color('--text');
      context.fillText(cutText(context, `${visibleText(comm)} ${tid}`, kNames - 12), 8, top + kLane / 2);
    });
    this.#drawCounts(context, part);
    this.#drawEvents(context, part, xOf);
    context.fillStyle = color('--loss');
    for (const [us] of part.lost) context.fillRect(xOf(us), kTop - 4, 2, height);
    this.#drawTold(context, part, xOf);
  }

  #drawTimes(context, length, xOf) {
    const step = roundStep((length * 90) / this.#width);
    context.fillStyle = color('--faint');
    for (let us = 0; us < length; us += step) {
      context.fillRect(xOf(us), 0, 0.5, kTop);
      context.fillText(us === 0 ? `${timeText(length * 1000)} in all` : `+${timeText(us * 1000)}`, xOf(us) + 3, 8);
    }
  }

  #drawCounts(context, { columns, counts }) {
    if (!counts) return;
    const most = counts.reduce((highest, [, , count]) => Math.max(highest, count), 1);
    const wide = this.#width / columns;
    context.fillStyle = color('--accent');
    for (const [column, lane, count] of counts) {
      const tall = Math.max(1, (kLane - 3) * Math.sqrt(count / most));
      context.fillRect(kNames + column * wide, this.#laneTop(lane) + kLane - 1 - tall, Math.max(1, wide), tall);
    }
  }

  #drawEvents(context, { events }, xOf) {
    for (const [us, lane, kind] of events ?? []) {
      context.fillStyle = kindColor(kind);
      context.fillRect(xOf(us) - 1, this.#laneTop(lane) + 2, 2.5, kLane - 4);
    }
  }

  // The event at the mouse: its line, or what it is.
  eventAt({ x, y }) {
    const { part } = this;
    const lane = Math.floor((y - kTop) / kLane);
    let best = null;
    let near = 6;
    for (const event of part?.events ?? []) {
      if (event[1] !== lane) continue;
      const distance = Math.abs(kNames + (event[0] / (part.to - part.from)) * this.#width - x);
      if (distance <= near) [best, near] = [event, distance];
    }
    return best;
  }

  #drawTold(context, part, xOf) {
    const told = byId('timeline-told');
    const event = this.at && this.eventAt(this.at);
    if (event) {
      context.strokeStyle = color('--text');
      context.strokeRect(xOf(event[0]) - 2.5, this.#laneTop(event[1]) + 1, 5, kLane - 3);
      told.textContent = visibleText(event[3]?.trim() ?? this.live.events.kindName(event[2]));
      return;
    }
    const lost = part.lost.reduce((sum, [, count]) => sum + count, 0);
    const many = part.counts?.reduce((sum, [, , count]) => sum + count, 0) ?? part.events.length;
    told.textContent = `${countText(many)} events${lost ? `, ${countText(lost)} lost` : ''}${part.counts ? '; zoom in to see each' : ''}`;
  }
}
