// One event: its fields, its filter with what the kernel says of it, its triggers, and a histogram that grows.

import { barsOf } from './bars.js';
import { byId, element } from './dom.js';
import { Mistake } from './mistake.js';
import { readFile, writeFile } from './server.js';
import { countText, visibleText } from './text.js';
import { fieldsOf, orderOfKey, rowsOfHistogram, triggersOf } from './tree_files.js';
import { TriggerPart } from './trigger_part.js';

const kMostRows = 64;

// Of the first histogram that is shown here: one of one field.
function keysOfHistogram(triggers) {
  for (const trigger of triggers) {
    const [, keys] = /^hist:keys=([\w.]+):vals=hitcount:/u.exec(trigger) ?? [];
    if (keys) return keys;
  }
  return null;
}

export class EventPanel {
  constructor(live) {
    this.live = live;
    this.name = null;
    this.keys = null; // of the histogram that is shown
  }

  get #folder() {
    return this.live.events.folderOf(this.name);
  }

  async show(name) {
    this.name = name;
    this.keys = null;
    const panel = byId('event');
    try {
      const [format, filter, triggers] = await Promise.all(
        ['format', 'filter', 'trigger'].map((file) => readFile(`${this.#folder}/${file}`)),
      );
      if (this.name !== name) return;
      const fields = fieldsOf(format);
      this.triggers = new TriggerPart(this.#folder, this.live.instance);
      // Another page, or this one before it was loaded again, may have begun one.
      this.keys = keysOfHistogram(triggersOf(triggers));
      panel.replaceChildren(
        element('h2', {}, visibleText(name)),
        element(
          'div',
          {},
          ...fields.flatMap(({ name: field, type }) => [
            element('span', { className: 'field' }, element('b', {}, visibleText(field)), ` ${visibleText(type)}`),
            '   ',
          ]),
        ),
        ...this.#filterParts(filter.trim()),
        ...this.triggers.parts,
        ...this.#histogramParts(fields),
      );
      await this.look();
    } catch (error) {
      if (this.name !== name) return;
      panel.replaceChildren(element('p', { className: 'empty' }, visibleText(error.message)));
    }
  }

  #filterParts(filter) {
    const input = element('input', {
      type: 'text',
      id: 'filter',
      spellcheck: false,
      placeholder: 'status >= 500 && route ~ "/cart*"',
    });
    input.setAttribute('aria-label', 'Filter');
    input.value = filter === 'none' ? '' : filter.split('\n')[0];
    const set = element('button', { type: 'submit' }, 'Set');
    const none = element('button', { type: 'button' }, 'None');
    const mistake = new Mistake('mistake');
    const path = `${this.#folder}/filter`;
    const form = element('form', { className: 'row' }, input, set, none);
    const write = async (text) => {
      mistake.clear();
      try {
        await writeFile(path, text || '0');
      } catch (error) {
        // The file now says what was wrong, with a caret below the place.
        const said = await readFile(path).catch(() => '');
        mistake.say(said.includes('^') ? said.trimEnd() : error.message);
      }
    };
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      write(input.value.trim());
    });
    none.addEventListener('click', () => {
      input.value = '';
      write('');
    });
    return [element('h2', {}, 'Filter: only what fits is recorded'), form, mistake.box];
  }

  #histogramParts(fields) {
    const select = element('select', { id: 'key' });
    select.setAttribute('aria-label', 'Count by');
    for (const { name, isText } of fields) {
      const shown = visibleText(name);
      if (!isText) select.append(element('option', { value: `${name}.log2` }, `${shown}, by powers of two`));
      select.append(element('option', { value: name }, `${shown}, each value`));
    }
    select.append(element('option', { value: 'common_pid.execname' }, 'program'));
    if (this.keys) select.value = this.keys;
    const start = element('button', { type: 'button', id: 'count' }, 'Count');
    const stop = element('button', { type: 'button' }, 'Stop');
    const said = element('span', { className: 'field', id: 'hits' });
    const bars = element('div', { className: 'bars', id: 'bars' });
    const folder = this.#folder;
    const count = async (wanted) => {
      const { keys, name } = this;
      if (keys) await this.#trigger(folder, `!hist:keys=${keys}`);
      const isCounted = wanted !== null && (await this.#trigger(folder, `hist:keys=${wanted}`));
      // Another event may have been chosen meanwhile.
      if (this.name !== name) return;
      this.keys = isCounted ? wanted : null;
      this.look();
    };
    start.addEventListener('click', () => count(select.value));
    stop.addEventListener('click', () => count(null));
    return [
      element('h2', {}, 'Histogram: counted in the programs, also of what is not recorded'),
      element('div', { className: 'row' }, select, start, stop, said),
      bars,
    ];
  }

  async #trigger(folder, text) {
    try {
      await writeFile(`${folder}/trigger`, text, true);
      return true;
    } catch (error) {
      this.live.state.complain(error.message);
      return false;
    }
  }

  // Now and then: how the histogram has grown.
  async look() {
    const { keys, name } = this;
    if (!name) return;
    await this.triggers?.look();
    if (!keys) return;
    const text = await readFile(`${this.#folder}/hist`).catch(() => '');
    if (this.keys !== keys || this.name !== name) return;
    const { rows, hits } = rowsOfHistogram(text, keys);
    rows.sort((a, b) => orderOfKey(a.key) - orderOfKey(b.key) || (a.key < b.key ? -1 : 1));
    byId('hits').textContent =
      `${countText(hits)} counted${rows.length > kMostRows ? `, the first ${kMostRows} keys` : ''}`;
    byId('bars').replaceChildren(...barsOf(rows.slice(0, kMostRows)));
  }
}
