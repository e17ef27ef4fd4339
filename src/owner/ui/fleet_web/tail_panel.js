// Lines of events as hosts send them, and what this page did.

import { byId, element } from './dom.js';
import { onCommand, stopCommand } from './requests.js';
import { countText, visibleText } from './text.js';

const kMostLines = 400;

function showLast(pre, lines) {
  const isAtEnd = pre.scrollTop + pre.clientHeight >= pre.scrollHeight - 4;
  pre.textContent = lines.join('\n');
  if (isAtEnd) pre.scrollTop = pre.scrollHeight;
}

export class TailPanel {
  #lines = [];
  #isPaused = false;
  #running = new Map(); // tasks by number
  #told = new Map(); // by number, how many lines this page has been told of

  constructor(live) {
    this.live = live;
    const pause = byId('pause');
    pause.addEventListener('click', () => {
      this.#isPaused = !this.#isPaused;
      pause.textContent = this.#isPaused ? 'Go on' : 'Pause';
      pause.setAttribute('aria-pressed', String(this.#isPaused));
      if (!this.#isPaused) this.#draw();
    });
    onCommand((commands) => showLast(byId('commands'), commands));
    this.#tell();
  }

  // The first message of a stream has all lines that are kept, of which the next one may have some again.
  take({ tasks, isWhole }) {
    if (isWhole) this.#lines = [];
    if (isWhole) this.#running.clear();
    if (isWhole) this.#told.clear();
    let isOther = isWhole;
    for (const task of tasks) {
      if (!task.lines) continue;
      const known = Math.max(0, (this.#told.get(task.number) ?? 0) - task.firstLine);
      this.#lines.push(...task.lines.slice(known).map(visibleText));
      this.#told.set(task.number, task.firstLine + task.lines.length);
      isOther ||= task.isRunning !== this.#running.has(task.number);
      isOther ||= this.#running.get(task.number)?.unkept !== task.unkept;
      if (task.isRunning) this.#running.set(task.number, task);
      else this.#running.delete(task.number);
      const hasFailed = !isWhole && !task.isRunning && task.status !== 0;
      if (hasFailed) this.live.state.complain(task.err.trim().split('\n').at(-1));
    }
    this.#lines.splice(0, Math.max(0, this.#lines.length - kMostLines));
    if (isOther) this.#tell();
    if (!this.#isPaused) this.#draw();
  }

  #tell() {
    const told = [...this.#running.values()].map((task) => {
      const stop = element('button', { type: 'button' }, 'Stop');
      stop.addEventListener('click', () =>
        stopCommand(task.number).catch((error) => this.live.state.complain(error.message)),
      );
      const unkept = task.unkept > 0 ? `, ${countText(task.unkept)} not shown` : '';
      return element('span', {}, visibleText(task.words.slice(1).join(' ')) + unkept, stop, ' ');
    });
    byId('tail-told').replaceChildren(...(told.length > 0 ? told : ['New order, tail: lines of events come here.']));
  }

  #draw() {
    showLast(byId('lines'), this.#lines);
  }
}
