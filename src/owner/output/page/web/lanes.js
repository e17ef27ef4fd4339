// What lies where: a lane a thread, lanes grouped by process, and each lane's events and spans in the order of time.

import { lowerBound } from './trace.js';

const kMostSpanRows = 16;

export class Lanes {
  constructor(trace) {
    this.trace = trace;
    this.lanes = trace.threads.map((thread, number) => ({
      number,
      ...thread,
      events: null,
      times: null,
      spanRows: [],
      spans: 0,
    }));
    this.#sortEvents();
    this.#sortSpans();
    this.processes = this.#grouped();
  }

  #sortEvents() {
    const { trace, lanes } = this;
    const counts = new Uint32Array(lanes.length);
    for (let i = 0; i < trace.count; ++i) ++counts[trace.thread[i]];
    lanes.forEach((lane, i) => {
      lane.events = new Uint32Array(counts[i]);
      lane.times = new Float64Array(counts[i]);
    });
    counts.fill(0);
    for (let i = 0; i < trace.count; ++i) {
      const lane = lanes[trace.thread[i]];
      const at = counts[trace.thread[i]]++;
      lane.events[at] = i;
      lane.times[at] = trace.time[i];
    }
  }

  // Each span is in the first row of its lane where nothing is in its way, so what it holds is below it.
  #sortSpans() {
    const { spans } = this.trace;
    const order = Uint32Array.from({ length: spans.count }, (_, i) => i);
    order.sort((a, b) => spans.begin[a] - spans.begin[b] || spans.end[b] - spans.end[a]);
    for (const span of order) {
      const lane = this.lanes[spans.thread[span]];
      ++lane.spans;
      let row = lane.spanRows.find((each) => each.busyUntil <= spans.begin[span]);
      if (!row) {
        row = lane.spanRows.length < kMostSpanRows ? { list: [], busyUntil: 0 } : lane.spanRows[kMostSpanRows - 1];
        if (lane.spanRows.length < kMostSpanRows) lane.spanRows.push(row);
      }
      row.list.push(span);
      row.busyUntil = Math.max(row.busyUntil, spans.end[span]);
    }
    for (const { spanRows } of this.lanes) {
      for (const row of spanRows) {
        row.spans = Uint32Array.from(row.list);
        row.begins = Float64Array.from(row.list, (span) => spans.begin[span]);
        row.ends = Float64Array.from(row.list, (span) => spans.end[span]);
        delete row.list;
      }
    }
  }

  #grouped() {
    const byPid = new Map();
    for (const lane of this.lanes) {
      if (lane.events.length === 0 && lane.spans === 0) continue;
      if (!byPid.has(lane.pid)) byPid.set(lane.pid, { pid: lane.pid, lanes: [], isOpen: true });
      byPid.get(lane.pid).lanes.push(lane);
    }
    for (const process of byPid.values()) {
      process.lanes.sort((a, b) => (b.tid === b.pid) - (a.tid === a.pid) || a.tid - b.tid);
      process.name = process.lanes[0].name;
    }
    return [...byPid.values()].sort((a, b) => a.pid - b.pid);
  }

  // The event of the lane that is nearest to this time; -1: it has none.
  nearest(lane, time) {
    const { times, events } = lane;
    if (times.length === 0) return -1;
    const at = lowerBound(times, time);
    if (at === 0) return events[0];
    if (at === times.length) return events[at - 1];
    return time - times[at - 1] <= times[at] - time ? events[at - 1] : events[at];
  }
}
