// The domain's events, by system: on and off, and how often each comes.

import { byId, element } from './dom.js';
import { readFile, writeFile } from './server.js';
import { countText, visibleText } from './text.js';

export class EventList {
  constructor(live) {
    this.live = live;
    this.names = []; // SYSTEM:EVENT
    this.enabled = new Set();
    this.switches = 0; // begun and done
    this.chosen = null;
    this.counts = new Map(); // by name
    this.kinds = new Map(); // names by the number that the server gave them
    this.before = new Map();
    this.rates = new Map();
    this.rows = new Map(); // by name: {box, number}
    byId('only').addEventListener('input', () => this.draw());
  }

  folderOf(name) {
    return `${this.live.instance}/events/${name.replace(':', '/')}`;
  }

  // Reads what there is, and what is on.
  async refresh() {
    const { switches } = this;
    const [names, enabled] = await Promise.all([
      readFile('available_events'),
      readFile(`${this.live.instance}/set_event`),
    ]);
    const all = names.split('\n').filter(Boolean).sort();
    // What was read before the user switched something is not how it is now.
    if (switches === this.switches) this.enabled = new Set(enabled.split('\n').filter(Boolean));
    const isSame = all.length === this.names.length && all.every((name, i) => name === this.names[i]);
    this.names = all;
    if (!isSame) this.draw();
    if (!isSame) this.live.latency.setEvents(all);
    if (switches !== this.switches) return;
    for (const [name, { box }] of this.rows) box.checked = this.enabled.has(name);
  }

  draw() {
    const wanted = byId('only').value.toLowerCase();
    const made = [];
    let system = null;
    this.rows.clear();
    for (const name of this.names) {
      if (!name.toLowerCase().includes(wanted)) continue;
      const own = name.slice(0, name.indexOf(':'));
      if (own !== system) made.push(element('div', { className: 'system' }, visibleText(own)));
      system = own;
      made.push(this.#row(name));
    }
    if (made.length === 0)
      made.push(element('p', { className: 'empty' }, 'No event is registered: start a program that has some.'));
    byId('event-rows').replaceChildren(...made);
    this.drawNumbers();
  }

  #row(name) {
    const shown = visibleText(name.slice(name.indexOf(':') + 1));
    const box = element('input', { type: 'checkbox', checked: this.enabled.has(name), title: 'Record it' });
    box.setAttribute('aria-label', `Record ${shown}`);
    box.addEventListener('change', () => this.#switch(name, box));
    const button = element('button', { type: 'button', title: shown }, shown);
    button.addEventListener('click', () => this.choose(name));
    const number = element('span', { className: 'number' });
    this.rows.set(name, { box, number });
    return element('div', { className: `event${name === this.chosen ? ' chosen' : ''}` }, box, button, number);
  }

  async #switch(name, box) {
    ++this.switches;
    if (box.checked) this.enabled.add(name);
    else this.enabled.delete(name);
    try {
      await writeFile(`${this.folderOf(name)}/enable`, box.checked ? '1' : '0');
    } catch (error) {
      this.live.state.complain(error.message);
    }
    ++this.switches;
    await this.live.refresh();
  }

  choose(name) {
    this.chosen = name;
    this.draw();
    this.live.showTab('event');
    this.live.panel.show(name);
  }

  take({ events }) {
    for (const [name, [kind, count]] of Object.entries(events)) {
      this.counts.set(name, count);
      this.kinds.set(kind, name);
    }
  }
  kindName(kind) {
    return (this.kinds.get(kind) ?? '?').replace(/^user_events:/u, '');
  }

  // Now and then: rates since the last time.
  count(seconds) {
    for (const [name, count] of this.counts) {
      this.rates.set(name, (count - (this.before.get(name) ?? count)) / seconds);
      this.before.set(name, count);
    }
    this.drawNumbers();
  }

  drawNumbers() {
    for (const [name, { number }] of this.rows) {
      // An older owner names events without their systems.
      const told = this.counts.has(name) ? name : name.slice(name.indexOf(':') + 1);
      const count = this.counts.get(told);
      number.textContent =
        count === undefined ? '' : `${countText(Math.round(this.rates.get(told) ?? 0))}/s  ${countText(count)}`;
    }
  }
}
