// One event: its fields, its filter with what the kernel says of it, and a histogram that grows.

import { byId, element } from './dom.js';
import { readFile, writeFile } from './server.js';
import { countText, visibleText } from './text.js';
import { fieldsOf, orderOfKey, rowsOfHistogram } from './tree_files.js';

const kMostRows = 64;

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
      const [format, filter] = await Promise.all([
        readFile(`${this.#folder}/format`),
        readFile(`${this.#folder}/filter`),
      ]);
      if (this.name !== name) return;
      const fields = fieldsOf(format);
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
        ...this.#histogramParts(fields),
      );
    } catch (error) {
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
    const mistake = element('pre', { className: 'mistake', id: 'mistake', hidden: true, role: 'alert' });
    const form = element('form', { className: 'row' }, input, set, none);
    const write = async (text) => {
      mistake.hidden = true;
      try {
        await writeFile(`${this.#folder}/filter`, text || '0');
      } catch (error) {
        // The file now says what was wrong, with a caret below the place.
        const said = await readFile(`${this.#folder}/filter`).catch(() => '');
        mistake.textContent = said.includes('^') ? said.trimEnd() : visibleText(error.message);
        mistake.hidden = false;
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
    return [element('h2', {}, 'Filter: only what fits is recorded'), form, mistake];
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
    const start = element('button', { type: 'button', id: 'count' }, 'Count');
    const stop = element('button', { type: 'button' }, 'Stop');
    const said = element('span', { className: 'field', id: 'hits' });
    const bars = element('div', { className: 'bars', id: 'bars' });
    start.addEventListener('click', async () => {
      if (this.keys) await this.#trigger(`!hist:keys=${this.keys}`);
      this.keys = (await this.#trigger(`hist:keys=${select.value}`)) ? select.value : null;
      this.look();
    });
    stop.addEventListener('click', async () => {
      if (this.keys) await this.#trigger(`!hist:keys=${this.keys}`);
      this.keys = null;
    });
    return [
      element('h2', {}, 'Histogram: counted in the programs, also of what is not recorded'),
      element('div', { className: 'row' }, select, start, stop, said),
      bars,
    ];
  }

  async #trigger(text) {
    try {
      await writeFile(`${this.#folder}/trigger`, text, true);
      return true;
    } catch (error) {
      this.live.complain(error.message);
      return false;
    }
  }

  // Now and then: how the histogram has grown.
  async look() {
    const { keys, name } = this;
    if (!keys) return;
    const text = await readFile(`${this.#folder}/hist`).catch(() => '');
    if (this.keys !== keys || this.name !== name) return;
    const { rows, hits } = rowsOfHistogram(text, keys);
    rows.sort((a, b) => orderOfKey(a.key) - orderOfKey(b.key) || (a.key < b.key ? -1 : 1));
    const most = rows.reduce((highest, { count }) => Math.max(highest, count), 1);
    byId('hits').textContent =
      `${countText(hits)} counted${rows.length > kMostRows ? `, the first ${kMostRows} keys` : ''}`;
    byId('bars').replaceChildren(
      ...rows.slice(0, kMostRows).flatMap(({ key, count }) => {
        const bar = element('i');
        bar.style.width = `${(100 * count) / most}%`;
        return [element('span', {}, visibleText(key)), element('span', {}, bar), element('span', {}, countText(count))];
      }),
    );
  }
}
