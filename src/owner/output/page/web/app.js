// What is shown, marked and searched for, and who is told when that changes.

import { byId, clamp, element } from './dom.js';
import { DetailsPanel } from './details_panel.js';
import { figuresOf, Selection, selected, subjectsOf, valuesOf } from './figures.js';
import { FiguresPanel } from './figures_panel.js';
import { FlamePanel } from './flame_panel.js';
import { HeatPanel } from './heat_panel.js';
import { HistogramPanel } from './histogram_panel.js';
import { Lanes } from './lanes.js';
import { Overview } from './overview.js';
import { search } from './search.js';
import { TablePanel } from './table_panel.js';
import { counted, countText, visibleText } from './text.js';
import { startTheme } from './theme.js';
import { Timeline } from './timeline.js';
import { figureText, lowerBound } from './trace.js';

const kNone = new Float64Array(0);

export class App {
  constructor(trace) {
    this.trace = trace;
    this.lanes = new Lanes(trace);
    this.more = trace.number('more');
    this.moreText = `${countText(this.more)} more events are not in this page`;
    this.shownEnd = trace.count > 0 ? trace.time[trace.count - 1] : trace.begin;
    this.view = { begin: trace.begin, end: trace.end };
    this.selection = new Selection();
    this.dragged = null;
    this.hits = null;
    this.hitsByLane = null;
    this.onlyHits = false;
    this.current = -1;
    this.currentSpan = -1;
    this.currentLane = null;
    this.subjects = subjectsOf(trace);
    this.subject = this.subjects[0] ?? null;
    this.chosen = selected(trace, this.lanes.lanes, this.selection, null);
    this.panels = [FiguresPanel, HeatPanel, HistogramPanel, FlamePanel, TablePanel, DetailsPanel].map(
      (Panel) => new Panel(this),
    );
    this.tab = 0;
    this.frame = 0;
    this.frames = 0; // drawn until now
  }

  start() {
    this.overview = new Overview(byId('overview'), this);
    this.timeline = new Timeline(byId('lanes'), this);
    this.toggleTheme = startTheme(() => {
      this.redraw();
      this.showPanel();
    });
    new ResizeObserver(() => {
      this.redraw();
      this.panels[this.tab].draw?.();
    }).observe(byId('main'));
    this.showPanel();
  }

  // Once a frame, however often it is asked for.
  redraw() {
    if (this.frame !== 0 || !this.timeline) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.drawNow();
    });
  }
  drawNow() {
    ++this.frames;
    this.overview.draw();
    this.timeline.draw();
  }

  // Read aloud by screen readers.
  say(text) {
    byId('said').textContent = text;
  }

  // Time.
  show(begin, end) {
    const { trace } = this;
    const whole = trace.end - trace.begin;
    const length = clamp(end - begin, Math.min(whole, 10), whole * 1.02);
    const middle = clamp((begin + end) / 2, trace.begin, trace.end);
    const slack = whole * 0.01;
    const from = clamp(
      middle - length / 2,
      trace.begin - slack,
      Math.max(trace.begin - slack, trace.end + slack - length),
    );
    this.view = { begin: from, end: from + length };
    this.redraw();
  }
  showAll() {
    const slack = (this.trace.end - this.trace.begin) * 0.01;
    this.show(this.trace.begin - slack, this.trace.end + slack);
  }
  zoom(factor, time) {
    const { begin, end } = this.view;
    this.show(time - (time - begin) * factor, time + (end - time) * factor);
  }
  pan(part) {
    const { begin, end } = this.view;
    const step = (end - begin) * part;
    this.show(begin + step, end + step);
  }
  centre(time) {
    const { begin, end } = this.view;
    this.show(time - (end - begin) / 2, time + (end - begin) / 2);
  }
  showSelected() {
    const { spans } = this.trace;
    let [begin, end] = this.selectedTime();
    if (this.selection.isEmpty && this.currentSpan >= 0)
      [begin, end] = [spans.begin[this.currentSpan], spans.end[this.currentSpan]];
    const slack = (end - begin) * 0.05 + 5;
    this.show(begin - slack, end + slack);
  }

  // What is marked.
  select(selection) {
    this.selection = selection;
    this.#choose();
  }
  #choose() {
    this.chosen = selected(this.trace, this.lanes.lanes, this.selection, this.onlyHits ? this.hits : null);
    this.redraw();
    this.showPanel();
    this.say(this.scopeText());
  }
  selectedTime() {
    const { selection, trace } = this;
    return selection.begin === null
      ? [trace.begin, Math.max(this.shownEnd, trace.begin + 1)]
      : [selection.begin, selection.end];
  }
  selectedSeconds() {
    const [begin, end] = this.selectedTime();
    return this.trace.isInSeconds ? (end - begin) / 1e9 : 0;
  }
  scopeText() {
    const { selection, trace, chosen } = this;
    const spans = trace.rules.length > 0 ? `, ${counted(chosen.spans.length, 'span')}` : '';
    const count = `${counted(chosen.events.length, 'event')}${spans}`;
    const of = [];
    if (selection.begin !== null) of.push(`${trace.durationText(selection.end - selection.begin)} marked`);
    if (selection.lanes !== null) of.push(counted(selection.lanes.size, 'lane'));
    if (selection.subject !== null) {
      const text = (value) => figureText(trace, selection.subject, value);
      of.push(`${selection.subject.name} ${text(selection.low)} – ${text(selection.high)}`);
    }
    if (this.onlyHits && this.hits) of.push('hits alone');
    return of.length > 0 ? `${count}: ${of.join(', ')}` : `${count}: all (drag, or m, marks some)`;
  }

  // Lanes.
  setLane(lane) {
    this.currentLane = lane;
    const row = this.timeline.laneRows.find((each) => each.lane === lane);
    if (row) this.timeline.reveal(row);
    this.redraw();
  }
  moveLane(step) {
    const { laneRows } = this.timeline;
    if (laneRows.length === 0) return;
    const at = laneRows.findIndex((row) => row.lane === this.currentLane);
    const { lane } = laneRows[clamp(at + step, 0, laneRows.length - 1)];
    this.setLane(lane);
    this.say(
      `${visibleText(lane.name)} ${lane.tid}: ${countText(lane.events.length)} events, ${countText(lane.spans)} spans`,
    );
  }
  toggleLane() {
    if (!this.currentLane) return;
    const lanes = new Set(this.selection.lanes ?? []);
    if (!lanes.delete(this.currentLane.number)) lanes.add(this.currentLane.number);
    this.select(new Selection({ ...this.selection, lanes: lanes.size > 0 ? lanes : null }));
  }
  toggleProcess(process) {
    process.isOpen = !process.isOpen;
    this.timeline.layout();
    this.redraw();
  }

  // One event or span.
  goTo(event, moves = true) {
    const time = this.trace.time[event];
    this.current = event;
    this.currentSpan = -1;
    if (moves && (time < this.view.begin || time > this.view.end)) this.centre(time);
    this.setLane(this.lanes.lanes[this.trace.thread[event]]);
    this.#tellCurrent(`${this.trace.types[this.trace.type[event]].name} ${this.trace.fieldsText(event)}`);
  }
  goToSpan(span, moves = true) {
    const { begin, end, thread } = this.trace.spans;
    this.currentSpan = span;
    this.current = -1;
    if (moves && (end[span] < this.view.begin || begin[span] > this.view.end))
      this.centre((begin[span] + end[span]) / 2);
    this.setLane(this.lanes.lanes[thread[span]]);
    this.#tellCurrent(`span of ${this.trace.durationText(end[span] - begin[span])}`);
  }
  #tellCurrent(text) {
    this.panels[this.tab].follow?.();
    this.say(text);
  }
  step(step) {
    const lane = this.currentLane ?? this.timeline.laneRows[0]?.lane;
    if (!lane || lane.events.length === 0) return;
    const isHere = this.current >= 0 && this.trace.thread[this.current] === lane.number;
    const at = isHere ? lowerBound(lane.events, this.current) + step : lowerBound(lane.times, this.view.begin);
    this.goTo(lane.events[clamp(at, 0, lane.events.length - 1)]);
  }
  stepSpan(step) {
    const lane =
      this.currentLane?.spans > 0 ? this.currentLane : this.timeline.laneRows.find((row) => row.lane.spans > 0)?.lane;
    if (!lane) return;
    const row = lane.spanRows.find(({ spans }) => spans.includes(this.currentSpan)) ?? lane.spanRows[0];
    const at = row.spans.indexOf(this.currentSpan);
    const next = at < 0 ? lowerBound(row.begins, this.view.begin) : at + step;
    this.goToSpan(row.spans[clamp(next, 0, row.spans.length - 1)]);
  }

  // Search.
  setQuery(text) {
    const result = search(this.trace, text);
    this.hits = result?.hits ?? null;
    this.hitsByLane = null;
    const input = byId('search');
    input.setAttribute('aria-invalid', String(Boolean(result?.mistake)));
    byId('hits').textContent = result === null ? '' : (result.mistake ?? `${countText(result.hits.length)} hits`);
    byId('hits').title = result?.mistake ?? '';
    if (this.onlyHits) this.#choose();
    this.redraw();
  }
  stepHit(step) {
    const { hits, current } = this;
    if (!hits || hits.length === 0) return;
    const at = lowerBound(hits, current);
    const next = step > 0 ? (hits[at] === current ? at + 1 : at) : at - 1;
    this.goTo(hits[(next + hits.length) % hits.length]);
  }
  setOnlyHits(only) {
    this.onlyHits = only;
    this.#choose();
  }
  // The times of a lane's hits.
  hitTimes(lane) {
    if (!this.hits || this.hits.length === 0) return kNone;
    if (!this.hitsByLane) {
      const { thread, time } = this.trace;
      const counts = new Uint32Array(this.lanes.lanes.length);
      for (const hit of this.hits) ++counts[thread[hit]];
      this.hitsByLane = Array.from(counts, (count) => new Float64Array(count));
      counts.fill(0);
      for (const hit of this.hits) this.hitsByLane[thread[hit]][counts[thread[hit]]++] = time[hit];
    }
    return this.hitsByLane[lane.number];
  }

  // Losses that are to be seen, those within a few pixels as one: {begin, end, text}.
  merged(width, isWhole = false) {
    const { begin, end } = isWhole ? this.trace : this.view;
    const near = ((end - begin) / width) * 4;
    const all = [];
    for (const loss of this.trace.losses) {
      if (loss.end < begin || loss.begin > end) continue;
      const last = all[all.length - 1];
      if (last && loss.begin <= last.end + near) {
        last.end = Math.max(last.end, loss.end);
        last.count += loss.count;
        last.isExact &&= loss.count > 0;
        last.cpus.add(loss.cpu);
      } else {
        all.push({ ...loss, isExact: loss.count > 0, cpus: new Set([loss.cpu]) });
      }
    }
    for (const loss of all) {
      const where = loss.cpus.size > 3 ? `${loss.cpus.size} CPUs` : `CPU ${[...loss.cpus].join(', ')}`;
      loss.text = `⚠ ${loss.isExact ? '' : 'at least '}${countText(loss.count)} lost (${where})`;
    }
    return all;
  }

  // The lower part.
  lookAt(subject, name) {
    this.subject = subject;
    this.openTab(this.panels.findIndex((panel) => panel.name.toLowerCase() === name));
  }
  openTab(tab) {
    this.tab = tab;
    this.showPanel();
  }
  showPanel() {
    const panel = this.panels[this.tab];
    this.#showTabs();
    this.#showChooser(panel);
    const content = byId('content');
    if (panel.hasSubject && !this.subject) {
      content.replaceChildren(
        element('p', { className: 'empty' }, 'No event has a number in it, and there are no spans.'),
      );
    } else {
      panel.show(content);
    }
  }
  #showTabs() {
    const hadFocus = byId('tabs').contains(document.activeElement);
    const tabs = this.panels.map((panel, i) => {
      const isOpen = i === this.tab;
      const tab = element(
        'button',
        { type: 'button', role: 'tab', tabIndex: isOpen ? 0 : -1, title: `${panel.name} (${i + 1})` },
        panel.name,
      );
      tab.setAttribute('aria-selected', String(isOpen));
      tab.addEventListener('click', () => this.openTab(i));
      tab.addEventListener('keydown', (event) => {
        const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (step) this.openTab((i + step + this.panels.length) % this.panels.length);
      });
      return tab;
    });
    byId('tabs').replaceChildren(...tabs);
    if (hadFocus) tabs[this.tab].focus();
  }
  #showChooser(panel) {
    const parts = [];
    if (panel.hasSubject && this.subject) {
      const select = element(
        'select',
        { title: 'What to look at' },
        ...this.subjects.map(({ name }, i) => element('option', { value: String(i) }, visibleText(name))),
      );
      select.setAttribute('aria-label', 'What to look at');
      select.value = String(this.subjects.indexOf(this.subject));
      select.addEventListener('change', () => {
        this.subject = this.subjects[Number(select.value)];
        this.showPanel();
      });
      parts.push(select);
    }
    parts.push(element('span', { className: 'scope' }, this.scopeText()));
    if (!this.selection.isEmpty) {
      const clear = element('button', { type: 'button', title: 'Mark nothing (Esc)' }, 'all');
      clear.addEventListener('click', () => this.select(new Selection()));
      parts.push(clear);
    }
    byId('chooser').replaceChildren(...parts);
  }

  // For the console of the browser, and for tests.
  figures(name) {
    const subject = this.subjects.find((each) => each.name === name);
    return subject ? figuresOf(valuesOf(this.trace, subject, this.chosen).values) : null;
  }
}
