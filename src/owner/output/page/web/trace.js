// The recording in memory: typed arrays, an element an event. Times are nanoseconds since `base`.

import { countText, realText, secondsText, tickText, timeText, visibleText } from './text.js';

export const ValueKind = { signed: 0, unsigned: 1, hex: 2, real: 3, text: 4, bool: 5 };

export class Trace {
  about = new Map();
  strings = ['']; // number 0: none
  types = []; // {system, name, fullName, fields, count, events}
  threads = []; // {tid, pid, name}
  rules = []; // {from, to, key}
  counters = []; // {event, field}
  frames = []; // {name, file}
  stackBegin = new Uint32Array(1); // by stack: where its frames begin
  stackFrames = new Uint32Array(0);
  count = 0;
  // By event: its time, type, thread, CPU, stack + 1, and its row in the columns of its type.
  time = new Float64Array(0);
  type = new Uint16Array(0);
  thread = new Uint32Array(0);
  cpu = new Uint16Array(0);
  stack = new Uint32Array(0);
  row = new Uint32Array(0);
  spans = { count: 0 }; // begin, end, rule, thread, endThread, key, row: arrays
  losses = []; // {cpu, count, begin, end}
  begin = 0;
  end = 1;

  get base() {
    return BigInt(this.about.get('base') ?? 0);
  }
  number(name) {
    return Number(this.about.get(name) ?? 0);
  }
  // Clocks as x86-tsc and counter have units of their own.
  get isInSeconds() {
    return !['x86-tsc', 'counter'].includes(this.about.get('clock'));
  }

  timeText(ns) {
    return this.isInSeconds ? secondsText(this.base, ns) : countText(this.base + BigInt(Math.round(ns)));
  }
  durationText(ns, step) {
    return this.isInSeconds ? timeText(ns, step) : tickText(ns);
  }

  text(number) {
    return visibleText(this.strings[number] ?? '');
  }
  threadText(thread) {
    const { name, tid } = this.threads[thread];
    return `${visibleText(name) || '?'} ${tid}`;
  }
  // A field as text; null: the event has none.
  valueText(field, row) {
    const value = field.values[row];
    if (field.kind === ValueKind.text) return value === 0 ? null : this.text(value);
    if (Number.isNaN(value) && field.kind !== ValueKind.real) return null;
    if (field.kind === ValueKind.bool) return value === 0 ? 'false' : 'true';
    if (field.kind === ValueKind.real) return Number.isFinite(value) ? String(value) : null;
    const exact = field.exact ? field.exact[row] : BigInt(value);
    const number = field.kind === ValueKind.signed ? exact : BigInt.asUintN(64, exact);
    return field.kind === ValueKind.hex ? `0x${number.toString(16)}` : String(number);
  }
  // All fields of an event, as "name=value name=value".
  fieldsText(event) {
    const type = this.types[this.type[event]];
    return type.fields
      .map((field) => `${visibleText(field.name)}=${this.valueText(field, this.row[event]) ?? ''}`)
      .join(' ');
  }
  // Of an event, the nearest caller first.
  stackOf(event) {
    const stack = this.stack[event];
    if (stack === 0) return [];
    return Array.from(this.stackFrames.subarray(this.stackBegin[stack - 1], this.stackBegin[stack]));
  }
  ruleText(rule) {
    const { from, to } = this.rules[rule];
    return `${visibleText(shortName(from))} → ${visibleText(shortName(to))}`;
  }
}

// Without the system that most events are of.
export function shortName(fullName) {
  return fullName.replace(/^user_events:/u, '');
}

export function isNumber(field) {
  return field.kind !== ValueKind.text && field.kind !== ValueKind.bool;
}

// A value of a field that is looked at: a duration, or a number.
export function figureText(trace, subject, value) {
  if (!Number.isFinite(value)) return '–';
  return subject.isDuration ? trace.durationText(value) : Number.isInteger(value) ? countText(value) : realText(value);
}

// The first element of sorted `values` that is not below `value`.
export function lowerBound(values, value, from = 0, to = values.length) {
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (values[middle] < value) from = middle + 1;
    else to = middle;
  }
  return from;
}
