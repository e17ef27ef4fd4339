// Which hosts: an expression that is checked as it is typed. The server knows the language; it says where a mistake is.

import { byId } from './dom.js';
import { Mistake } from './mistake.js';
import { get, note } from './requests.js';

const kTyping_ms = 120;
const kSettled_ms = 1500;

export class WhereBox {
  constructor(changed) {
    this.changed = changed;
    this.text = ''; // the last one that makes sense
    this.chosen = null; // numbers of its hosts; null: all
    this.isWrong = false;
    this.asked = 0;
    this.mistake = new Mistake('where-mistake');
    this.input = byId('where');
    byId('where-mistake-place').replaceWith(this.mistake.box);
    let typing = 0;
    let settled = 0;
    this.input.addEventListener('input', () => {
      clearTimeout(typing);
      clearTimeout(settled);
      typing = setTimeout(() => this.look(), kTyping_ms);
      settled = setTimeout(() => this.#note(), kSettled_ms);
      this.changed();
    });
  }

  // What is typed is what hosts are chosen by.
  get isSettled() {
    return !this.isWrong && this.input.value.trim() === this.text;
  }

  set(text) {
    this.input.value = text;
    this.#note();
  }

  async #note() {
    await this.look();
    if (this.text && this.isSettled) note(['landtrace', 'fleet', 'hosts', `--where=${this.text}`]);
  }

  matches({ number }) {
    return this.chosen === null || this.chosen.has(number);
  }

  // Asks again, as hosts may have come.
  async look() {
    const text = this.input.value.trim();
    const asked = ++this.asked;
    try {
      const numbers = text ? JSON.parse(await get('choose', { where: text })) : null;
      if (asked !== this.asked) return;
      this.text = text;
      this.chosen = numbers && new Set(numbers);
      this.#tell(null);
    } catch (error) {
      if (asked === this.asked) this.#tell(error.message);
    }
    this.changed();
  }

  #tell(mistake) {
    this.isWrong = mistake !== null;
    this.input.setAttribute('aria-invalid', String(this.isWrong));
    if (this.isWrong) this.mistake.say(mistake.replace(/^--where: /u, ''));
    else this.mistake.clear();
  }
}
