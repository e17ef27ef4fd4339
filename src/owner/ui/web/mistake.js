// What was wrong with what was typed, at its place.

import { element } from './dom.js';
import { visibleText } from './text.js';

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
}
