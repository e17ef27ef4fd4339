// The last lines of what is recorded, and what the page did.

import { byId } from './dom.js';
import { onCommand } from './requests.js';
import { saveSnapshot } from './server.js';
import { visibleText } from './text.js';

const kMostLines = 400;

function showEnd(pre, lines) {
  const isAtEnd = pre.scrollTop + pre.clientHeight >= pre.scrollHeight - 4;
  pre.textContent = lines.join('\n');
  if (isAtEnd) pre.scrollTop = pre.scrollHeight;
}

export class LinesPanel {
  #lines = [];
  #isPaused = false;

  constructor(live) {
    const pause = byId('pause');
    pause.addEventListener('click', () => {
      this.#isPaused = !this.#isPaused;
      pause.textContent = this.#isPaused ? 'Go on' : 'Pause';
      pause.setAttribute('aria-pressed', String(this.#isPaused));
      if (!this.#isPaused) this.#draw();
    });
    byId('snapshot').addEventListener('click', () => saveSnapshot(live.instance));
    onCommand((commands) => showEnd(byId('commands'), commands));
  }

  // A message that is whole has all lines that are kept.
  take({ lines, isWhole }) {
    if (isWhole) this.#lines = [];
    if (lines.length === 0 && !isWhole) return;
    this.#lines.push(...lines.map(visibleText));
    this.#lines.splice(0, this.#lines.length - kMostLines);
    if (!this.#isPaused) this.#draw();
  }
  #draw() {
    showEnd(byId('lines'), this.#lines);
  }
}
