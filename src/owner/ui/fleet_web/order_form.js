// Gives orders: each is a command of `landtrace fleet`, which the server runs.

import { byId, element } from './dom.js';
import { Mistake } from './mistake.js';
import { noteCommand, runCommand } from './requests.js';
import { visibleText } from './text.js';
import { hostsText } from './orders.js';

// Of each kind its fields: [name, label, example]. What stands behind `for` is common to all.
const kKinds = {
  latency: {
    text: 'how long it takes from one event to another',
    fields: [
      ['from', 'From', 'req_start'],
      ['to', 'to', 'req_done'],
      ['key', 'with the same', 'id'],
      ['by', 'by', 'route'],
      ['filter', 'only if', 'bytes > 100'],
    ],
  },
  hist: {
    text: 'how often, by its fields',
    fields: [
      ['event', 'Event', 'req_done'],
      ['keys', 'by', 'route,status'],
      ['vals', 'and the spread of', 'bytes.log2=32'],
      ['filter', 'only if', 'status >= 500'],
    ],
  },
  enable: {
    text: 'recorded in each host’s memory, the newest stay',
    fields: [
      ['event', 'Event', 'req_done'],
      ['filter', 'only if', 'status >= 500'],
      ['trigger', 'and', 'snapshot if status == 503'],
    ],
  },
  tail: {
    text: 'sent as lines, which come below',
    fields: [
      ['event', 'Event', 'req_done'],
      ['filter', 'only if', 'status >= 500'],
    ],
  },
};

export class OrderForm {
  constructor(live) {
    this.live = live;
    this.inputs = new Map(); // by name: values stay as the kind changes
    this.seen = new Map(); // commands, by number: news may come before the answer that says which one it is
    this.isAsking = false; // the server to give one
    this.given = null; // the number of the one that is being given
    this.mistake = new Mistake('form-mistake');
    const kinds = Object.entries(kKinds).map(([kind, { text }]) =>
      element('option', { value: kind }, `${kind}: ${text}`),
    );
    this.kind = element('select', { id: 'form-kind' }, ...kinds);
    this.kind.setAttribute('aria-label', 'What hosts are to do');
    this.kind.addEventListener('change', () => this.#draw());
    this.lasts = this.#input('for', '10m');
    this.lasts.value = '10m';
    this.where = element('p', { className: 'field', id: 'form-where' });
    this.told = element('p', { className: 'field', id: 'form-told', role: 'status' });
    this.give = element('button', { type: 'submit', id: 'give' }, 'Give the order');
    this.fields = element('div', { className: 'row' });
    const first = element('div', { className: 'row' }, this.kind);
    const form = element('form', { className: 'order-form' }, first, this.fields, this.where, this.give);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#submit();
    });
    byId('form').replaceChildren(form, this.mistake.box, this.told);
    this.#draw();
  }

  #input(name, placeholder) {
    const input =
      this.inputs.get(name) ??
      element('input', { type: 'text', id: `form-${name}`, spellcheck: false, autocomplete: 'off' });
    this.inputs.set(name, input);
    input.placeholder = placeholder;
    return input;
  }

  #draw() {
    const labels = kKinds[this.kind.value].fields.map(([name, label, example]) =>
      element('label', {}, `${label} `, this.#input(name, example)),
    );
    this.fields.replaceChildren(...labels, element('label', {}, 'for ', this.lasts));
    this.mistake.clear();
  }

  drawWhere() {
    const { where } = this.live.hosts;
    const who = where.text ? `hosts where ${where.text}` : 'all hosts';
    const now = hostsText(this.live.hosts.matching().length);
    this.where.textContent = where.isWrong
      ? 'Which hosts is not clear: see the mistake in what is typed above them.'
      : visibleText(`For ${who}: ${now} now, and those that come.`);
    this.give.disabled = !where.isSettled || this.isAsking || this.given !== null;
  }

  async #submit() {
    this.mistake.clear();
    this.told.textContent = '';
    const kind = this.kind.value;
    const values = { command: kind, where: this.live.hosts.where.text, for: this.lasts.value.trim() };
    for (const [name] of kKinds[kind].fields) values[name] = this.inputs.get(name).value.trim();
    // Hosts send sums as often as a page can show them.
    if (kind === 'latency' || kind === 'hist') values.interval = '1s';
    this.isAsking = true;
    this.drawWhere();
    try {
      this.told.textContent = 'Hosts are asked …';
      this.given = await runCommand(values);
      if (this.seen.has(this.given)) this.#told(this.seen.get(this.given));
    } catch (error) {
      this.told.textContent = '';
      this.mistake.say(error.message);
    }
    this.isAsking = false;
    this.drawWhere();
  }

  take(tasks) {
    for (const task of tasks) {
      if (!this.seen.has(task.number)) noteCommand(task.words);
      this.seen.set(task.number, task);
      if (task.number === this.given) this.#told(task);
      if (task.words[1] === 'end' && task.status !== 0 && !task.isRunning) this.live.state.complain(task.err.trim());
    }
  }

  #told({ isRunning, status, out, err, words }) {
    const isTail = words[1] === 'tail';
    const isGiven = isTail && err.includes('order ');
    if (isRunning && !isGiven) return;
    this.given = null;
    this.told.textContent = visibleText((isTail ? err : out).trim());
    if (err && !isTail) this.mistake.say(err.trim());
    if (!isRunning && status !== 0 && isTail) this.mistake.say(err.trim());
    const id = /^([\w-]+): applied/u.exec(out)?.[1];
    if (id && status === 0) this.live.showOrder(id, words[1]);
    this.drawWhere();
  }
}
