// The line that says how the page stands with what it shows, and what went wrong meanwhile.

import { byId } from './dom.js';
import { visibleText } from './text.js';

export class StateLine {
  #stand = { text: '', isGone: true };
  #isOfWatch = false; // what is complained of

  // From now on, until it is told otherwise.
  tell(text, isGone) {
    this.#stand = { text, isGone };
    this.#show(text, isGone);
  }

  // Nothing works without what is gone: what fails then, and what failed before and is heard of late, says less.
  complain(text) {
    if (!this.#stand.isGone) this.#show(text, true);
  }

  // Of what is done again and again: a complaint of it is over when it works again.
  async watch(look) {
    try {
      await look;
      if (this.#isOfWatch) this.tell(this.#stand.text, this.#stand.isGone);
    } catch (error) {
      this.complain(error.message);
      this.#isOfWatch = true;
    }
  }

  #show(text, isBad) {
    this.#isOfWatch = false;
    const line = byId('state');
    line.textContent = visibleText(text);
    line.className = isBad ? 'gone' : '';
    line.title = line.textContent;
  }
}
