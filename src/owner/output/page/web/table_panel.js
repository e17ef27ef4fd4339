// The tab of the table: the selected events, one a row, with what was lost between them. Only the rows that are seen
// are there.

import { clamp, element } from './dom.js';
import { countText, visibleText } from './text.js';
import { lowerBound } from './trace.js';

const kTableRow = 20;
// Browsers have no taller elements; beyond, a pixel of the scroll bar is several rows.
const kTallest = 8_000_000;

export class TablePanel {
  constructor(app) {
    this.app = app;
    this.name = 'Events';
    this.hasSubject = false;
  }

  show(content) {
    this.rows = rowsOf(this.app);
    this.body = element('div', { className: 'body' });
    this.frame = element('div', { id: 'rows', tabIndex: 0, role: 'grid' }, headRow(), this.body);
    this.frame.setAttribute('aria-label', 'Events: arrow keys move');
    this.frame.setAttribute('aria-rowcount', String(this.rows.length));
    this.body.style.height = `${Math.min(kTallest, this.rows.length * kTableRow)}px`;
    content.replaceChildren(
      this.rows.length > 0 ? this.frame : element('p', { className: 'empty' }, 'No events are selected.'),
    );
    this.frame.addEventListener('scroll', () => this.draw());
    this.frame.addEventListener('keydown', (event) => this.#key(event));
    const at = this.#rowOf(this.app.current);
    if (at >= 0) this.#reveal(at);
    this.draw();
  }

  // How many rows a row's height of scrolling is.
  get #stretch() {
    return Math.max(1, (this.rows.length * kTableRow - this.#room) / (kTallest - this.#room));
  }
  get #room() {
    return Math.max(kTableRow, this.frame.clientHeight - kTableRow);
  }

  draw() {
    if (!this.frame?.isConnected) return;
    const top = this.frame.scrollTop;
    const first = Math.floor((top * this.#stretch) / kTableRow);
    const count = Math.ceil(this.#room / kTableRow) + 2;
    const offset = this.#stretch > 1 ? top : first * kTableRow;
    const made = [];
    for (let i = 0; i < count && first + i < this.rows.length; ++i) {
      const row = this.#row(first + i);
      row.style.transform = `translateY(${offset + i * kTableRow}px)`;
      made.push(row);
    }
    this.body.replaceChildren(...made);
  }

  #row(at) {
    const { app } = this;
    const { trace } = app;
    const event = this.rows.event(at);
    if (event < 0) {
      const loss = trace.losses[-1 - event];
      const text = `⚠ ${loss.count > 0 ? countText(loss.count) : 'some'} events of CPU ${loss.cpu} were lost before this`;
      return element(
        'div',
        { className: 'row lost', role: 'row' },
        cell('time', trace.timeText(loss.end)),
        cell('delta', ''),
        cell('cpu', String(loss.cpu)),
        cell('fields', text),
      );
    }
    const before = at > 0 ? this.rows.event(at - 1) : -1;
    const delta = before >= 0 ? `+${trace.durationText(trace.time[event] - trace.time[before])}` : '';
    const row = element(
      'div',
      { className: `row${at % 2 ? ' odd' : ''}${event === app.current ? ' current' : ''}`, role: 'row' },
      cell('time', trace.timeText(trace.time[event])),
      cell('delta', delta),
      cell('cpu', String(trace.cpu[event])),
      cell('thread', trace.threadText(trace.thread[event])),
      cell('event', visibleText(trace.types[trace.type[event]].name)),
      cell('fields', trace.fieldsText(event)),
    );
    row.setAttribute('aria-rowindex', String(at + 1));
    row.addEventListener('click', () => app.goTo(event));
    return row;
  }

  #rowOf(event) {
    return event < 0 ? -1 : this.rows.rowOf(event);
  }

  #reveal(at) {
    const position = (at * kTableRow) / this.#stretch;
    const { scrollTop } = this.frame;
    if (position < scrollTop) this.frame.scrollTop = position;
    else if (position > scrollTop + this.#room - kTableRow)
      this.frame.scrollTop = position - this.#room + 2 * kTableRow;
  }

  // The current event is another one.
  follow() {
    if (!this.frame?.isConnected) return;
    const at = this.#rowOf(this.app.current);
    if (at >= 0) this.#reveal(at);
    this.draw();
  }

  #key(event) {
    const page = Math.floor(this.#room / kTableRow) - 1;
    const steps = { ArrowUp: -1, ArrowDown: 1, PageUp: -page, PageDown: page, Home: -Infinity, End: Infinity };
    const step = steps[event.key];
    if (step === undefined) return;
    const from = Math.max(this.#rowOf(this.app.current), 0);
    let at = clamp(from + step, 0, this.rows.length - 1);
    const onward = step < 0 ? -1 : 1;
    while (at > 0 && at < this.rows.length - 1 && this.rows.event(at) < 0) at += onward;
    if (this.rows.event(at) >= 0) this.app.goTo(this.rows.event(at));
    event.preventDefault();
    event.stopPropagation();
  }
}

function cell(className, text) {
  return element('span', { className, role: 'gridcell', title: className === 'fields' ? '' : text }, text);
}

function headRow() {
  const columns = {
    time: 'time',
    delta: 'since before',
    cpu: 'CPU',
    thread: 'thread',
    event: 'event',
    fields: 'fields',
  };
  return element(
    'div',
    { className: 'head', role: 'row' },
    ...Object.entries(columns).map(([className, text]) => element('span', { className, role: 'columnheader' }, text)),
  );
}

// Events and losses in the order of time. A loss is -1 - its number.
function rowsOf({ trace, chosen, selection }) {
  const { events } = chosen;
  const losses = [];
  trace.losses.forEach((loss, i) => {
    if (selection.begin !== null && (loss.end < selection.begin || loss.begin > selection.end)) return;
    losses.push({ number: i, at: lowerBound(events, lowerBound(trace.time, loss.end)) });
  });
  losses.sort((a, b) => a.at - b.at);
  const lossRows = Float64Array.from(losses, ({ at }, i) => at + i); // the row of each
  return {
    length: events.length + losses.length,
    event(row) {
      const before = lowerBound(lossRows, row);
      return lossRows[before] === row ? -1 - losses[before].number : events[row - before];
    },
    rowOf(event) {
      const at = lowerBound(events, event);
      if (events[at] !== event) return -1;
      let before = 0;
      while (before < losses.length && losses[before].at <= at) ++before;
      return at + before;
    },
  };
}
