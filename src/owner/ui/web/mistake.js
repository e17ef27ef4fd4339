// What was wrong with what was typed, at its place.

import { element } from './dom.js';
import { readFile } from './server.js';
import { visibleText } from './text.js';
import { mistakeIn } from './tree_files.js';

export class Mistake {
  constructor(id) {
    this.box = element('pre', { className: 'mistake', id, hidden: true, role: 'alert' });
  }
  clear() {
    this.box.hidden = true;
  }
  // Text of our own, or of the kernel: lines of it.
  say(text) {
    this.box.textContent = text.split('\n').map(visibleText).join('\n');
    this.box.hidden = false;
  }
  // A command was refused: what its error_log says of it, else what the error says.
  async sayWhy(error, log, command) {
    const text = await readFile(log).catch(() => '');
    this.say(mistakeIn(text, command) || error.message);
  }
}
