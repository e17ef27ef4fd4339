// The tab of figures: of each kind of event its number and rate, of each number in it sum and percentiles.

import { element } from './dom.js';
import { figuresOf, kPercents, valuesOf } from './figures.js';
import { kindColor, kindShape } from './theme.js';
import { countText, realText, visibleText } from './text.js';
import { figureText, shortName } from './trace.js';

const kHead = ['', 'count', 'a second', 'sum', 'mean', 'min', ...kPercents.map((percent) => `p${percent}`), 'max'];

function swatch(kind) {
  const made = element('span', { className: 'swatch' }, kindShape(kind));
  made.style.color = kindColor(kind);
  return made;
}

function groupRow(kind, name, count, seconds) {
  const row = element('tr', { className: 'group' });
  row.append(element('td', { className: 'name', title: name }, swatch(kind), name));
  row.append(element('td', {}, countText(count)));
  row.append(element('td', {}, seconds > 0 ? realText(count / seconds) : '–'));
  for (let i = 3; i < kHead.length; ++i) row.append(element('td'));
  return row;
}

function subjectRow(app, subject, values) {
  const figures = figuresOf(values);
  const text = (value) => figureText(app.trace, subject, value);
  const name = subject.kind === 'span' ? 'duration' : visibleText(subject.field.name);
  const row = element('tr', { tabIndex: 0, title: `Show how ${subject.name} is spread` });
  const cells = [
    countText(figures.count),
    '',
    text(figures.sum),
    text(figures.mean),
    text(figures.least),
    ...figures.percentiles.map(text),
    text(figures.most),
  ];
  row.append(element('td', { className: 'name' }, element('span', { className: 'swatch' }), name));
  for (const cell of cells) row.append(element('td', {}, cell));
  const choose = () => app.lookAt(subject, 'histogram');
  row.addEventListener('click', choose);
  row.addEventListener('keydown', (event) => event.key === 'Enter' && choose());
  return row;
}

export class FiguresPanel {
  constructor(app) {
    this.app = app;
    this.name = 'Figures';
    this.hasSubject = false;
  }

  show(content) {
    const { app } = this;
    const { trace, chosen } = app;
    const body = element('tbody');
    const seconds = app.selectedSeconds();
    const rowsOf = (isIt) => {
      for (const subject of app.subjects.filter(isIt)) {
        const { values } = valuesOf(trace, subject, chosen);
        if (values.length > 0) body.append(subjectRow(app, subject, values));
      }
    };
    trace.rules.forEach((_, rule) => {
      const count = chosen.spans.reduce((sum, span) => sum + (trace.spans.rule[span] === rule), 0);
      if (count === 0) return;
      body.append(groupRow(trace.types.length + rule, trace.ruleText(rule), count, seconds));
      rowsOf((subject) => subject.kind === 'span' && subject.rule === rule);
    });
    const counts = new Uint32Array(trace.types.length);
    for (const event of chosen.events) ++counts[trace.type[event]];
    for (const type of trace.types) {
      if (counts[type.number] === 0) continue;
      body.append(groupRow(type.number, visibleText(shortName(type.fullName)), counts[type.number], seconds));
      rowsOf((subject) => subject.kind === 'field' && subject.type === type.number);
    }
    if (body.childElementCount === 0) {
      content.replaceChildren(element('p', { className: 'empty' }, 'No events are selected.'));
      return;
    }
    const head = element('tr', {}, ...kHead.map((name) => element('th', { scope: 'col' }, name)));
    content.replaceChildren(element('table', { className: 'figures' }, element('thead', {}, head), body));
  }
}
