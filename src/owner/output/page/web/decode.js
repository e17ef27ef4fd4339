// From the blocks of the page to a Trace (writer.hpp has the sections).

import { Bytes } from './bytes.js';
import { Trace, ValueKind } from './trace.js';

const Section = {
  strings: 1,
  type: 2,
  events: 3,
  spans: 4,
  lost: 5,
  threads: 6,
  frames: 7,
  stacks: 8,
  rules: 9,
  counters: 10,
  about: 11,
};

// Pieces of a column, block by block, that become one array.
class Pieces {
  #all = [];
  #hasExact = false;
  length = 0;

  add(column) {
    this.#all.push(column);
    this.length += column.values.length;
    this.#hasExact ||= column.exact !== null;
  }
  joined(Type = Float64Array) {
    const values = new Type(this.length);
    let at = 0;
    for (const piece of this.#all) {
      values.set(piece.values, at);
      at += piece.values.length;
    }
    return values;
  }
  // null: doubles say it all.
  exact() {
    if (!this.#hasExact) return null;
    const exact = new BigInt64Array(this.length);
    let at = 0;
    for (const piece of this.#all) {
      for (let i = 0; i < piece.values.length; ++i) {
        const value = piece.values[i];
        exact[at++] = piece.exact ? piece.exact[i] : BigInt(Number.isNaN(value) ? 0 : value);
      }
    }
    return exact;
  }
}

function several(count) {
  return Array.from({ length: count }, () => new Pieces());
}

export class Decoder {
  #trace = new Trace();
  #events = several(5);
  #spans = several(7);
  #lost = several(4);
  #fields = []; // by type and field: Pieces
  #firstOf = new Map(); // by text: its first number
  #canonical = [0]; // by number: that of the same text

  add(bytes) {
    const from = new Bytes(bytes);
    while (!from.isAtEnd) this.#section(from.byte(), from);
  }

  #section(section, from) {
    if (section === Section.strings) return this.#strings(from);
    if (section === Section.type) return this.#type(from);
    if (section === Section.events) return this.#eventRows(from);
    if (section === Section.spans) return Decoder.#rows(from, this.#spans);
    if (section === Section.lost) return Decoder.#rows(from, this.#lost);
    if (section === Section.stacks) return this.#stacks(from);
    if (section === Section.about) return this.#about(from);
    return this.#list(section, from);
  }

  static #rows(from, pieces) {
    const count = from.varint();
    for (const each of count > 0 ? pieces : []) each.add(from.column(count));
    return count;
  }

  // What has the same text has the same number from here on: the writer forgets texts after a while.
  #strings(from) {
    const { strings } = this.#trace;
    for (let left = from.varint(); left > 0; --left) {
      const text = from.text();
      const number = strings.push(text) - 1;
      if (!this.#firstOf.has(text)) this.#firstOf.set(text, number);
      this.#canonical.push(this.#firstOf.get(text));
    }
  }
  #string(number) {
    return this.#trace.strings[number] ?? '';
  }

  #type(from) {
    const number = from.varint();
    const system = this.#string(from.varint());
    const name = this.#string(from.varint());
    const fields = [];
    for (let left = from.varint(); left > 0; --left) {
      fields.push({ name: this.#string(from.varint()), type: this.#string(from.varint()), kind: from.varint() });
    }
    this.#trace.types[number] = { number, system, name, fullName: `${system}:${name}`, fields, count: 0 };
    this.#fields[number] = fields.map(() => new Pieces());
  }

  #eventRows(from) {
    Decoder.#rows(from, this.#events);
    for (let left = from.varint(); left > 0; --left) {
      const type = this.#trace.types[from.varint()];
      const count = from.varint();
      type.fields.forEach((field, i) => {
        const isUnsigned = field.kind === ValueKind.unsigned || field.kind === ValueKind.hex;
        this.#fields[type.number][i].add(from.column(count, isUnsigned));
      });
      type.count += count;
    }
  }

  #list(section, from) {
    const columns = { [Section.threads]: 3, [Section.frames]: 2, [Section.rules]: 3, [Section.counters]: 2 }[section];
    if (!columns) throw new RangeError(`a section of the unknown kind ${section}`);
    const pieces = several(columns);
    const count = Decoder.#rows(from, pieces);
    const [a, b, c] = pieces.map((each) => each.joined());
    const text = (number) => this.#string(number);
    for (let i = 0; i < count; ++i) {
      if (section === Section.threads) this.#trace.threads.push({ tid: a[i], pid: b[i], name: text(c[i]) });
      if (section === Section.frames) this.#trace.frames.push({ name: text(a[i]), file: text(b[i]) });
      if (section === Section.rules) this.#trace.rules.push({ from: text(a[i]), to: text(b[i]), key: text(c[i]) });
      if (section === Section.counters) this.#trace.counters.push({ event: text(a[i]), field: text(b[i]) });
    }
  }

  #stacks(from) {
    const count = from.varint();
    const lengths = from.column(count).values;
    const all = from.varint();
    const trace = this.#trace;
    trace.stackBegin = new Uint32Array(count + 1);
    lengths.forEach((length, i) => (trace.stackBegin[i + 1] = trace.stackBegin[i] + length));
    trace.stackFrames = all > 0 ? Uint32Array.from(from.column(all).values) : new Uint32Array(0);
  }

  #about(from) {
    for (let left = from.varint(); left > 0; --left) {
      const name = this.#string(from.varint());
      this.#trace.about.set(name, this.#string(from.varint()));
    }
  }

  finish() {
    const trace = this.#trace;
    this.#finishEvents(trace);
    this.#finishFields(trace);
    this.#finishSpans(trace);
    this.#finishLosses(trace);
    trace.begin =
      trace.count > 0 ? trace.losses.reduce((least, { begin }) => Math.min(least, begin), trace.time[0]) : 0;
    const last = Number(BigInt(trace.about.get('last') ?? 0) - trace.base);
    trace.end = Math.max(last, trace.count > 0 ? trace.time[trace.count - 1] : 0, trace.begin + 1);
    return trace;
  }

  #finishEvents(trace) {
    const [time, type, thread, cpu, stack] = this.#events;
    trace.count = time.length;
    trace.time = time.joined();
    // In the order of time; a CPU's clock may be behind another's by a little.
    for (let i = 1; i < trace.count; ++i) trace.time[i] = Math.max(trace.time[i], trace.time[i - 1]);
    trace.type = type.joined(Uint16Array);
    trace.thread = thread.joined(Uint32Array);
    trace.cpu = cpu.joined(Uint16Array);
    trace.stack = stack.joined(Uint32Array);
    trace.row = new Uint32Array(trace.count);
    const events = trace.types.map((each) => new Uint32Array(each.count));
    const rows = new Uint32Array(trace.types.length);
    for (let i = 0; i < trace.count; ++i) {
      const row = rows[trace.type[i]]++;
      trace.row[i] = row;
      events[trace.type[i]][row] = i;
    }
    trace.types.forEach((each, i) => (each.events = events[i]));
  }

  #finishFields(trace) {
    for (const type of trace.types) {
      type.fields.forEach((field, i) => {
        const pieces = this.#fields[type.number][i];
        if (field.kind === ValueKind.text) {
          field.values = pieces.joined(Uint32Array).map((number) => this.#canonical[number] ?? 0);
          field.exact = null;
        } else {
          field.values = pieces.joined();
          field.exact = pieces.exact();
        }
      });
    }
  }

  #finishSpans(trace) {
    const [rule, begin, end, thread, endThread, key, nested] = this.#spans;
    trace.spans = {
      count: rule.length,
      rule: rule.joined(Uint16Array),
      begin: begin.joined(),
      end: end.joined(),
      thread: thread.joined(Uint32Array),
      endThread: endThread.joined(Uint32Array),
      key: key.joined(Uint32Array).map((number) => this.#canonical[number] ?? 0),
      isNested: nested.joined(Uint8Array),
    };
  }

  // What is missing is missing since the CPU's event before.
  #finishLosses(trace) {
    const [cpu, count, time, before] = this.#lost.map((each) => each.joined());
    const last = new Map();
    let at = 0;
    for (let i = 0; i < cpu.length; ++i) {
      for (; at < before[i]; ++at) last.set(trace.cpu[at], trace.time[at]);
      const begin = last.get(cpu[i]) ?? Math.min(trace.time[0] ?? 0, time[i]);
      trace.losses.push({ cpu: cpu[i], count: count[i], begin, end: Math.max(time[i], begin) });
    }
  }
}
