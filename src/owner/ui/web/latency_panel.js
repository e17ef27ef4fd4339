// Times between two events, or in a function: `landtrace latency`, as it grows.

import { barsOf } from './bars.js';
import { byId, element } from './dom.js';
import { Mistake } from './mistake.js';
import { noteCommand, runCommand, stopCommand } from './requests.js';
import { readFile } from './server.js';
import { countText, timeText, visibleText } from './text.js';
import { fieldsOf } from './tree_files.js';

const kMostGroups = 12;
const kPercentiles = ['p50', 'p90', 'p99', 'p99.9'];

// The command's buckets are some per cent wide; here so many are one that an octave has two.
function rowsOfBuckets(buckets) {
  const rows = new Map();
  for (const { from, to, count } of buckets) {
    const octave = Math.floor(2 * Math.log2(Math.max(1, from)));
    const row = rows.get(octave);
    if (row) Object.assign(row, { to, count: row.count + count });
    else rows.set(octave, { from, to, count });
  }
  return [...rows.values()].map(({ from, to, count }) => ({ key: `${timeText(from)} – ${timeText(to)}`, count }));
}

function groupParts({ key, count, latency_ns: spread }) {
  const names = Object.entries(key).map(([name, value]) => `${name} ${value}`);
  const figures = kPercentiles.map((each) => `${each} ${timeText(spread[each])}`);
  return [
    element('h3', {}, visibleText(`${names.join(', ')}${names.length ? ': ' : ''}${countText(count)} times`)),
    element('p', { className: 'figures' }, figures.join('   ')),
    element('div', { className: 'bars' }, ...barsOf(rowsOfBuckets(spread.buckets))),
  ];
}

export class LatencyPanel {
  constructor(live) {
    this.live = live;
    this.boxes = new Map(); // of commands that run, by number
    this.noted = new Set();
    this.mistake = new Mistake('latency-mistake');
    const field = (id, label, placeholder) => {
      const input = element('input', { type: 'text', id, spellcheck: false, placeholder });
      input.setAttribute('aria-label', label);
      return input;
    };
    this.from = element('select', { id: 'latency-from' });
    this.to = element('select', { id: 'latency-to' });
    this.from.setAttribute('aria-label', 'From');
    this.to.setAttribute('aria-label', 'To');
    this.key = field('latency-key', 'Key', 'id');
    this.by = field('latency-by', 'Grouped by', 'route');
    this.fields = element('datalist', { id: 'latency-fields' });
    for (const input of [this.key, this.by]) input.setAttribute('list', 'latency-fields');
    for (const select of [this.from, this.to]) select.addEventListener('change', () => this.#readFields());
    const form = element(
      'form',
      { className: 'row' },
      element('label', {}, 'From ', this.from),
      element('label', {}, 'to ', this.to),
      element('label', {}, 'with the same ', this.key),
      element('label', {}, 'by ', this.by),
      element('button', { type: 'submit', id: 'latency-start' }, 'Measure'),
      this.fields,
    );
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      const [from, to] = [this.from.value, this.to.value];
      this.measure({ from, to, key: this.key.value.trim(), by: this.by.value.trim() });
    });
    this.results = element('div', { id: 'latencies' });
    byId('latency').replaceChildren(
      element('h2', {}, 'Times between two events, or in a function (choose it under Probes)'),
      form,
      this.mistake.box,
      this.results,
    );
  }

  // What can be chosen. What is chosen stays: events go with their program, which may be about to start again.
  setEvents(names) {
    for (const select of [this.from, this.to]) {
      const chosen = select.value;
      const all = chosen ? [...new Set([...names, chosen])].sort() : names;
      select.replaceChildren(...all.map((name) => element('option', { value: name }, visibleText(name))));
      if (chosen) select.value = chosen;
    }
    this.#readFields();
  }

  async #readFields() {
    if (!this.to.value) return;
    const format = await readFile(`${this.live.events.folderOf(this.to.value)}/format`).catch(() => '');
    this.fields.replaceChildren(...fieldsOf(format).map(({ name }) => element('option', { value: name })));
  }

  // {from, to, key, by} or {function, by}
  async measure(wanted) {
    this.mistake.clear();
    try {
      await runCommand({ command: 'latency', ...wanted });
    } catch (error) {
      this.mistake.say(error.message);
    }
  }

  take(tasks) {
    for (const task of tasks) {
      if (task.words[0] !== 'latency') continue;
      if (!this.noted.has(task.number)) noteCommand(task.words);
      this.noted.add(task.number);
      if (!task.isRunning && !task.out && !task.err) {
        this.boxes.get(task.number)?.remove();
      } else {
        this.#draw(task);
      }
    }
  }

  #draw(task) {
    if (!this.boxes.has(task.number)) {
      const box = element('section', { className: 'latency' });
      this.boxes.set(task.number, box);
      this.results.prepend(box);
    }
    const seen = task.out ? JSON.parse(task.out) : null;
    const stop = element('button', { type: 'button' }, task.isRunning ? 'Stop' : 'Close');
    stop.addEventListener('click', () => {
      if (!task.isRunning) this.boxes.get(task.number).remove();
      else stopCommand(task.number).catch((error) => this.live.state.complain(error.message));
    });
    const title = task.words.slice(3).join(' ');
    const unpaired = seen?.starts_without_end ? `, ${countText(seen.starts_without_end)} without an end` : '';
    this.boxes.get(task.number).replaceChildren(
      element(
        'div',
        { className: 'row' },
        element('code', {}, visibleText(title)),
        element('span', { className: 'field' }, seen ? `${countText(seen.hits)} measured${unpaired}` : 'waits'),
        stop,
      ),
      ...(task.err && !task.isRunning ? [element('pre', { className: 'mistake' }, task.err.split('\n').map(visibleText).join('\n'))] : []),
      ...(seen?.groups ?? []).slice(0, kMostGroups).flatMap(groupParts),
    );
  }
}
