// The programs that events come from, each with its threads and with what it emits.

import { byId, element } from './dom.js';
import { countText, visibleText } from './text.js';

const kMostPrograms = 40;
const kMostThreads = 64;

export class ProgramList {
  constructor(live) {
    this.live = live;
    this.threads = new Map(); // by number: {tgid, comm, count, kinds}
    this.rows = new Map(); // by process: {row, summary, number, parts}
  }

  take({ programs }) {
    for (const [tid, tgid, comm, count, kinds] of programs) this.threads.set(tid, { tgid, comm, count, kinds });
  }

  // By process: {pid, comm, count, threads, kinds}; those with the most events first.
  all() {
    const byProcess = new Map();
    for (const [tid, thread] of this.threads) {
      const pid = thread.tgid || tid;
      if (!byProcess.has(pid)) byProcess.set(pid, { pid, comm: thread.comm, count: 0, threads: [], kinds: new Map() });
      const process = byProcess.get(pid);
      if (tid === pid) process.comm = thread.comm;
      process.count += thread.count;
      process.threads.push({ tid, ...thread });
      for (const [kind, count] of thread.kinds) process.kinds.set(kind, (process.kinds.get(kind) ?? 0) + count);
    }
    return [...byProcess.values()].sort((a, b) => b.count - a.count);
  }

  draw() {
    const programs = this.all().slice(0, kMostPrograms);
    const shown = new Set(programs.map(({ pid }) => pid));
    for (const pid of this.rows.keys()) if (!shown.has(pid)) this.rows.delete(pid);
    const rows = programs.map((program) => {
      if (!this.rows.has(program.pid)) this.rows.set(program.pid, this.#row(program));
      const row = this.rows.get(program.pid);
      row.name.textContent = `${visibleText(program.comm)} ${program.pid}`;
      row.number.textContent = `${countText(program.count)} events`;
      if (row.row.open) this.#drawParts(row, program);
      return row.row;
    });
    const box = byId('program-rows');
    // Moving a row would close what the user is about to press.
    if (rows.length !== box.children.length || rows.some((row, i) => row !== box.children[i])) {
      box.replaceChildren(...rows);
    }
  }

  #row(program) {
    const name = element('span');
    const number = element('span', { className: 'number' });
    const parts = element('div', { className: 'parts' });
    const row = element('details', { className: 'program' }, element('summary', {}, name, number), parts);
    const made = { row, name, number, parts };
    row.addEventListener('toggle', () => {
      const now = this.all().find(({ pid }) => pid === program.pid);
      if (row.open && now) this.#drawParts(made, now);
    });
    return made;
  }

  #drawParts({ parts }, program) {
    const functions = element('button', { type: 'button', className: 'link' }, 'Functions …');
    functions.addEventListener('click', () => this.live.probes.show(program.pid));
    const line = (className, text, count) =>
      element(
        'div',
        { className: `part ${className}` },
        element('span', {}, text),
        element('span', { className: 'number' }, countText(count)),
      );
    const kinds = [...program.kinds].sort(([, a], [, b]) => b - a);
    const threads = program.threads.sort((a, b) => b.count - a.count).slice(0, kMostThreads);
    parts.replaceChildren(
      ...kinds.map(([kind, count]) => line('kind', visibleText(this.live.events.kindName(kind)), count)),
      ...(program.threads.length > 1
        ? threads.map(({ tid, comm, count }) => line('thread', `thread ${tid} ${visibleText(comm)}`, count))
        : []),
      functions,
    );
  }
}
