// What is selected, and figures of it. No drawing.

import { roundStep } from './text.js';
import { isNumber, lowerBound } from './trace.js';

// Something with a number to look at: a field of an event, how long spans take, or events alone.
//     {name, unit, kind: 'field' | 'span' | 'event', type | rule, field, isDuration}
export function subjectsOf(trace) {
  const subjects = [];
  trace.rules.forEach((rule, number) =>
    subjects.push({ name: `${trace.ruleText(number)}: duration`, kind: 'span', rule: number, isDuration: true }),
  );
  for (const type of trace.types) {
    for (const field of type.fields) {
      if (!isNumber(field)) continue;
      subjects.push({
        name: `${type.name}.${field.name}`,
        kind: 'field',
        type: type.number,
        field,
        isDuration: /_ns$|^ns$/u.test(field.name),
      });
    }
  }
  return subjects;
}

// What the user has marked: a stretch of time, lanes in it, values of a subject; each may be null.
export class Selection {
  constructor({ begin = null, end = null, lanes = null, subject = null, low = 0, high = 0 } = {}) {
    Object.assign(this, { begin, end, lanes, subject, low, high });
  }
  get isEmpty() {
    return this.begin === null && this.lanes === null && this.subject === null;
  }
}

function spanValue(trace, span) {
  return trace.spans.end[span] - trace.spans.begin[span];
}

// The spans of the selection: those that reach into it.
function spansIn(trace, selection) {
  const { spans } = trace;
  const { begin, end, lanes, subject, low, high } = selection;
  const isOther = subject !== null && subject.kind !== 'span';
  const chosen = new Uint32Array(isOther ? 0 : spans.count);
  let count = 0;
  for (let i = 0; i < chosen.length; ++i) {
    if (begin !== null && (spans.end[i] < begin || spans.begin[i] > end)) continue;
    if (lanes !== null && !lanes.has(spans.thread[i])) continue;
    if (subject !== null) {
      const value = spanValue(trace, i);
      if (spans.rule[i] !== subject.rule || !(value >= low && value < high)) continue;
    }
    chosen[count++] = i;
  }
  return chosen.slice(0, count);
}

// Of chosen spans: what their threads did meanwhile, with their first and last events.
function eventsOfSpans(trace, chosen, lanes) {
  const { spans } = trace;
  const isIn = new Uint8Array(trace.count);
  for (const span of chosen) {
    for (const thread of new Set([spans.thread[span], spans.endThread[span]])) {
      const { times, events } = lanes[thread];
      const to = spans.end[span];
      for (let i = lowerBound(times, spans.begin[span]); i < times.length && times[i] <= to; ++i) isIn[events[i]] = 1;
    }
  }
  return isIn;
}

// {events, spans}: numbers, in the order of time. `hits`: only these events, or null.
export function selected(trace, lanes, selection, hits) {
  const spans = spansIn(trace, selection);
  const { begin, end, subject, low, high } = selection;
  const ofSpans = subject?.kind === 'span' ? eventsOfSpans(trace, spans, lanes) : null;
  const from = begin === null ? 0 : lowerBound(trace.time, begin);
  const among = hits ?? null;
  const events = new Uint32Array(among ? among.length : trace.count);
  let count = 0;
  const length = events.length;
  for (let at = among ? lowerBound(among, from) : from; at < length; ++at) {
    const i = among ? among[at] : at;
    if (end !== null && trace.time[i] > end) break;
    if (selection.lanes !== null && !selection.lanes.has(trace.thread[i])) continue;
    if (ofSpans !== null && ofSpans[i] === 0) continue;
    if (subject?.kind === 'field') {
      if (trace.type[i] !== subject.type) continue;
      const value = subject.field.values[trace.row[i]];
      if (!(value >= low && value < high)) continue;
    }
    events[count++] = i;
  }
  return { events: events.slice(0, count), spans };
}

// {times, values} of a subject among what is selected; no number is left out; NaN and infinities are none.
export function valuesOf(trace, subject, chosen) {
  const isSpan = subject.kind === 'span';
  const from = isSpan ? chosen.spans : chosen.events;
  const times = new Float64Array(from.length);
  const values = new Float64Array(from.length);
  let count = 0;
  for (const i of from) {
    if (isSpan ? trace.spans.rule[i] !== subject.rule : trace.type[i] !== subject.type) continue;
    const value = isSpan ? spanValue(trace, i) : subject.field.values[trace.row[i]];
    if (!Number.isFinite(value)) continue;
    times[count] = isSpan ? trace.spans.end[i] : trace.time[i];
    values[count++] = value;
  }
  return { times: times.slice(0, count), values: values.slice(0, count) };
}

export const kPercents = [50, 90, 99, 99.9];

// The smallest value that is not below that part of all (nearest rank).
export function percentile(sorted, percent) {
  return sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100 - 1e-9) - 1)];
}

export function figuresOf(values) {
  const sorted = values.slice().sort();
  let sum = 0;
  for (const value of values) sum += value;
  return {
    count: values.length,
    sum,
    mean: sum / values.length,
    least: sorted[0],
    most: sorted[sorted.length - 1],
    percentiles: kPercents.map((percent) => percentile(sorted, percent)),
  };
}

// Intervals `low <= value < high` for a histogram, by their numbers. Where values lie wide apart the bounds grow by a
// quarter of a power of two of `unit`; else all are as wide.
const kSteps = 4;
const kLinear = 48;

export class Buckets {
  #unit = 1;
  #isLinear = false;

  constructor(values) {
    let least = Infinity;
    let most = -Infinity;
    let isWhole = true;
    for (const value of values) {
      if (!Number.isFinite(value)) continue;
      least = Math.min(least, value);
      most = Math.max(most, value);
      isWhole &&= Number.isInteger(value);
    }
    if (least > most) return;
    this.#isLinear = least < 0 || most - least <= kLinear || most < 4 * least;
    if (this.#isLinear) {
      const step = Math.max(most - least, Number.MIN_VALUE * 2 ** 52) / kLinear;
      // No finer than doubles of this size are.
      const finest = 2 ** (Math.floor(Math.log2(Math.max(-least, most))) - 52);
      this.#unit = Math.max(isWhole ? Math.max(1, Math.ceil(roundStep(step))) : roundStep(step), finest);
    } else if (!isWhole) {
      // The smallest are in the first steps, unless they are as good as nothing.
      this.#unit = 2 ** Math.floor(Math.log2(Math.max(least, most / 2 ** 30) / kSteps));
    }
  }

  of(value) {
    const scaled = value / this.#unit;
    if (this.#isLinear || scaled < kSteps) return Math.floor(scaled);
    const power = Math.floor(Math.log2(scaled));
    return kSteps * (power - 1) + Math.floor((scaled / 2 ** power - 1) * kSteps);
  }
  bounds(bucket) {
    return { low: this.#begin(bucket), high: this.#begin(bucket + 1) };
  }
  #begin(bucket) {
    if (this.#isLinear || bucket < kSteps) return bucket * this.#unit;
    return this.#unit * 2 ** (Math.floor(bucket / kSteps) + 1) * (1 + (bucket % kSteps) / kSteps);
  }
}
