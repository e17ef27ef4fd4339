// Functions of a program, by name, and the probes at them.

import { byId, element } from './dom.js';
import { Mistake } from './mistake.js';
import { noteCommand, runCommand } from './requests.js';
import { readFile, writeFile } from './server.js';
import { countText, visibleText } from './text.js';
import { probesOf } from './tree_files.js';
import { sayWhy } from './why.js';

const kMostFunctions = 200;
const kProbes = 'uprobe_events';

export class ProbePanel {
  #shown = null;

  constructor(live) {
    this.live = live;
    this.asked = null; // number of the command that is waited for
    this.answers = new Map(); // that came before they were asked for
    this.mistake = new Mistake('probe-mistake');
    const field = (id, label, placeholder) => {
      const input = element('input', { type: 'text', id, spellcheck: false, placeholder });
      input.setAttribute('aria-label', label);
      return input;
    };
    this.object = field('probe-object', 'Program', '1234, libc.so.6 or /path/of/it');
    this.name = field('probe-name', 'Function', 'handle_*');
    this.arguments = field('probe-arguments', 'What to record of each call', 'size=$arg1 path=+0($arg2):string');
    this.programs = element('datalist', { id: 'probe-programs' });
    this.object.setAttribute('list', 'probe-programs');
    const form = element(
      'form',
      { className: 'row' },
      element('label', {}, 'Of ', this.object),
      element('label', {}, 'those called ', this.name),
      element('button', { type: 'submit', id: 'probe-find' }, 'Find'),
    );
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.find();
    });
    this.found = element('div', { id: 'functions' });
    this.set = element('div', { id: 'probes' });
    byId('probe').replaceChildren(
      element('h2', {}, 'Functions of a program'),
      form,
      element('div', { className: 'row' }, element('label', {}, 'Record ', this.arguments)),
      this.mistake.box,
      this.found,
      element('h2', {}, 'Probes of this page'),
      this.set,
    );
  }

  // From the list of programs.
  show(pid) {
    this.object.value = String(pid);
    this.live.showTab('probe');
    this.name.focus();
  }

  async find() {
    this.mistake.clear();
    this.found.replaceChildren(element('p', { className: 'empty' }, 'looking …'));
    try {
      const name = this.name.value.trim() || '*';
      this.asked = await runCommand({ command: 'functions', object: this.object.value.trim(), name });
      const answer = this.answers.get(this.asked);
      if (answer) this.#draw(answer);
    } catch (error) {
      this.found.replaceChildren();
      this.mistake.say(error.message);
    }
  }

  take(tasks) {
    for (const task of tasks) {
      if (task.words[0] !== 'functions' || task.isRunning) continue;
      this.answers.set(task.number, task);
      if (task.number === this.asked) this.#draw(task);
    }
  }

  #draw(task) {
    this.answers.clear();
    this.asked = null;
    noteCommand(task.words);
    const lines = task.out.slice(0, task.out.lastIndexOf('\n') + 1).split('\n');
    const rows = lines.filter(Boolean).map((line) => JSON.parse(line));
    if (task.err) this.mistake.say(task.err.trimEnd());
    const more = rows.length - kMostFunctions;
    this.found.replaceChildren(
      ...rows.slice(0, kMostFunctions).map((row) => this.#row({ object: this.object.value.trim(), ...row })),
      ...(more > 0 || task.isTooLong
        ? [element('p', { className: 'empty' }, `${countText(Math.max(more, 1))} more: say more of the name`)]
        : []),
    );
  }

  #row(row) {
    const button = (text, isThere, why, act) => {
      const made = element('button', { type: 'button', disabled: !isThere, title: why ?? text }, text);
      made.addEventListener('click', act);
      return made;
    };
    const place = `${row.object}:${row.name ?? `0x${row.offset.toString(16)}`}`;
    return element(
      'div',
      { className: 'function' },
      element('span', { title: visibleText(row.object) }, visibleText(row.name ?? place)),
      button('Calls', row.entry !== null, row.entry_refused, () => this.define('p', row, place)),
      button('Returns', row.return, row.return_refused, () => this.define('r', row, place)),
      button('Times', row.return, row.return_refused, () => {
        this.live.showTab('latency');
        this.live.latency.measure({ function: place });
      }),
    );
  }

  // Defines it, and switches it on.
  async define(kind, row, place) {
    this.mistake.clear();
    const { group, instance } = this.live;
    const base = `${(row.name ?? 'place').replace(/\W/gu, '_').slice(0, 50)}${kind === 'r' ? '__return' : ''}`;
    const taken = new Set(this.#shown?.map(({ name }) => name));
    let name = base;
    for (let i = 1; taken.has(name); ++i) name = `${base}_${i}`;
    const said = this.arguments.value.trim();
    const line = `${kind}:${group}/${name} ${place}${said ? ` ${said}` : ''}`;
    try {
      await writeFile(kProbes, line, true);
      await writeFile(`${instance}/events/${group}/${name}/enable`, '1');
    } catch (error) {
      await sayWhy(this.mistake, error, 'error_log', line);
    }
    await this.live.lookAgain();
  }

  async #remove(name) {
    const { group, instance } = this.live;
    try {
      await writeFile(`${instance}/events/${group}/${name}/enable`, '0');
      await writeFile(kProbes, `-:${group}/${name}`, true);
    } catch (error) {
      await sayWhy(this.mistake, error, 'error_log', `-:${group}/${name}`);
    }
    await this.look();
  }

  // Now and then: the probes that there are, and the programs that could have some.
  async look() {
    const programs = this.live.programs.all().slice(0, 50);
    this.programs.replaceChildren(
      ...programs.map(({ pid, comm }) => element('option', { value: String(pid) }, visibleText(comm))),
    );
    const text = await readFile(kProbes).catch(() => '');
    const probes = probesOf(text, this.live.group);
    if (JSON.stringify(probes) === JSON.stringify(this.#shown)) return;
    this.#shown = probes;
    this.set.replaceChildren(
      ...probes.map(({ name, definition }) => {
        const remove = element('button', { type: 'button' }, 'Remove');
        remove.addEventListener('click', () => this.#remove(name));
        return element('div', { className: 'row' }, element('code', {}, visibleText(definition)), remove);
      }),
    );
  }
}
