// What an event does, beside being recorded: its triggers, and what the kernel says of a wrong one.

import { element } from './dom.js';
import { Mistake } from './mistake.js';
import { readFile, writeFile } from './server.js';
import { visibleText } from './text.js';
import { triggersOf } from './tree_files.js';
import { sayWhy } from './why.js';

export class TriggerPart {
  #shown = '';

  // `folder`: the event's. `instance`: the one it is in.
  constructor(folder, instance) {
    this.path = `${folder}/trigger`;
    this.log = `${instance}/error_log`;
    this.mistake = new Mistake('trigger-mistake');
    this.list = element('div', { id: 'triggers' });
    this.input = element('input', {
      type: 'text',
      id: 'trigger',
      spellcheck: false,
      placeholder: 'traceoff if status >= 500',
    });
    this.input.setAttribute('aria-label', 'Trigger');
    const form = element('form', { className: 'row' }, this.input, element('button', { type: 'submit' }, 'Add'));
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.write(this.input.value.trim());
    });
    this.parts = [element('h2', {}, 'Triggers: what it does when it comes'), form, this.mistake.box, this.list];
  }

  async write(text) {
    this.mistake.clear();
    if (!text) return;
    try {
      await writeFile(this.path, text, true);
      if (!text.startsWith('!')) this.input.value = '';
    } catch (error) {
      await sayWhy(this.mistake, error, this.log, text);
    }
    await this.look();
  }

  async look() {
    const text = await readFile(this.path).catch(() => '');
    if (text === this.#shown) return;
    this.#shown = text;
    this.list.replaceChildren(
      ...triggersOf(text).map((trigger) => {
        const remove = element('button', { type: 'button' }, 'Remove');
        remove.addEventListener('click', () => this.write(`!${trigger}`));
        return element('div', { className: 'row' }, element('code', {}, visibleText(trigger)), remove);
      }),
    );
  }
}
