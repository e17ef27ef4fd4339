// What keys and the pointer do on the time line; the list of keys.

import { byId, element } from './dom.js';
import { briefly } from './details_panel.js';
import { Selection } from './figures.js';

const kKeys = [
  [['+', '−', 'w', 's'], 'zoom, around the pointer or the middle; so does the wheel'],
  [['←', '→', 'a', 'd'], 'move in time; so does Shift with the wheel, or dragging the axis'],
  [['↑', '↓', 'PgUp', 'PgDn'], 'go from lane to lane; the wheel over their names scrolls'],
  [['.', ','], 'next and previous event of the lane'],
  [[']', '['], 'next and previous span of the lane'],
  [['Home', '0'], 'show everything'],
  [['f'], 'show what is selected, or the current span'],
  [['m'], 'mark what is shown; Shift: the current lane alone. Dragging marks, too; Shift keeps lanes'],
  [['Esc'], 'mark nothing'],
  [['Space'], 'open and close a process, or mark a lane'],
  [['/'], 'search; Enter and Shift+Enter go to the next and previous hit'],
  [['h'], 'only hits are counted and listed, or all'],
  [['1', '…', '6'], 'figures, heat map, histogram, flame graph, events, details'],
  [['t'], 'light or dark'],
  [['?'], 'this list'],
];

export function fillHelp(dialog) {
  const rows = kKeys.map(([keys, text]) =>
    element(
      'tr',
      {},
      element('td', {}, ...keys.flatMap((key) => [element('kbd', {}, key), ' '])),
      element('td', {}, text),
    ),
  );
  const close = element('button', { type: 'button', autofocus: true }, 'Close');
  close.addEventListener('click', () => dialog.close());
  dialog.replaceChildren(element('h2', {}, 'Keys'), element('table', {}, element('tbody', {}, ...rows)), close);
}

const isTyping = ({ target }) => ['INPUT', 'SELECT', 'TEXTAREA'].includes(target.tagName);

export function listenToKeys(app) {
  const { timeline } = app;
  const middle = () => {
    const { hover } = timeline;
    return hover && hover.x > timeline.gutter ? timeline.timeAt(hover.x) : (app.view.begin + app.view.end) / 2;
  };
  const actions = {
    '+': () => app.zoom(0.6, middle()),
    '=': () => app.zoom(0.6, middle()),
    w: () => app.zoom(0.6, middle()),
    '-': () => app.zoom(1 / 0.6, middle()),
    '−': () => app.zoom(1 / 0.6, middle()),
    s: () => app.zoom(1 / 0.6, middle()),
    ArrowLeft: () => app.pan(-0.15),
    a: () => app.pan(-0.15),
    ArrowRight: () => app.pan(0.15),
    d: () => app.pan(0.15),
    ArrowUp: () => app.moveLane(-1),
    ArrowDown: () => app.moveLane(1),
    PageUp: () => app.moveLane(-8),
    PageDown: () => app.moveLane(8),
    '.': () => app.step(1),
    ',': () => app.step(-1),
    ']': () => app.stepSpan(1),
    '[': () => app.stepSpan(-1),
    Home: () => app.showAll(),
    0: () => app.showAll(),
    f: () => app.showSelected(),
    m: () => app.select(new Selection({ ...app.view })),
    M: () =>
      app.select(new Selection({ ...app.view, lanes: app.currentLane ? new Set([app.currentLane.number]) : null })),
    Escape: () => app.select(new Selection()),
    ' ': () => app.toggleLane(),
    '/': () => byId('search').focus(),
    h: () => app.setOnlyHits(!app.onlyHits),
    t: () => app.toggleTheme(),
    '?': () => byId('help').showModal(),
  };
  window.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
    if (byId('help').open || isTyping(event)) return;
    // Space and arrows have a meaning of their own on buttons and tabs.
    if (event.target.tagName === 'BUTTON' && [' ', 'ArrowLeft', 'ArrowRight', 'Home', 'End'].includes(event.key))
      return;
    const number = Number(event.key);
    const action = number >= 1 && number <= 6 ? () => app.openTab(number - 1) : actions[event.key];
    if (!action) return;
    action();
    event.preventDefault();
  });
}

// Wheel, click and drag.
export function listenToPointer(app, canvas) {
  const { timeline } = app;
  let drag = null; // {x, y, time, isPan, begin, end}
  canvas.addEventListener(
    'wheel',
    (event) => {
      event.preventDefault();
      const x = event.offsetX;
      if (x < timeline.gutter) {
        timeline.setScroll(timeline.scroll + event.deltaY);
        return app.redraw();
      }
      const sideways = event.shiftKey ? event.deltaX || event.deltaY : event.deltaX;
      if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY))
        return app.pan(sideways / timeline.plotWidth);
      app.zoom(1.0018 ** event.deltaY, timeline.timeAt(x));
    },
    { passive: false },
  );
  canvas.addEventListener('pointerdown', (event) => {
    if (event.button > 1) return;
    const { offsetX: x, offsetY: y } = event;
    canvas.setPointerCapture(event.pointerId);
    drag = { x, y, isPan: event.button === 1 || y < 22, begin: app.view.begin, end: app.view.end, hasMoved: false };
  });
  canvas.addEventListener('pointermove', (event) => {
    timeline.hover = { x: event.offsetX, y: event.offsetY };
    if (drag) dragTo(app, drag, event);
    else showTip(app, event);
    app.redraw();
  });
  canvas.addEventListener('pointerup', (event) => {
    const done = drag;
    drag = null;
    if (!done) return;
    if (done.hasMoved && app.dragged) app.select(app.dragged);
    app.dragged = null;
    if (!done.hasMoved) click(app, event);
    app.redraw();
  });
  canvas.addEventListener('pointerleave', () => {
    timeline.hover = null;
    byId('tip').hidden = true;
    app.redraw();
  });
  canvas.addEventListener('dblclick', (event) => {
    const { span } = timeline.under(event.offsetX, event.offsetY);
    if (span !== undefined) app.showSelected();
  });
}

function dragTo(app, drag, event) {
  const { timeline } = app;
  const distance = event.offsetX - drag.x;
  drag.hasMoved ||= Math.abs(distance) > 4;
  byId('tip').hidden = true;
  if (!drag.hasMoved || drag.x < timeline.gutter) return;
  if (drag.isPan) {
    const moved = (distance / timeline.plotWidth) * (drag.end - drag.begin);
    return app.show(drag.begin - moved, drag.end - moved);
  }
  const [a, b] = [timeline.timeAt(drag.x), timeline.timeAt(event.offsetX)];
  let { lanes } = app.selection;
  if (!event.shiftKey) {
    const crossed = timeline.lanesBetween(drag.y, event.offsetY);
    lanes = crossed.length > 1 || Math.abs(event.offsetY - drag.y) > 8 ? new Set(crossed) : null;
  }
  app.dragged = new Selection({ begin: Math.min(a, b), end: Math.max(a, b), lanes });
}

function click(app, event) {
  const { row, event: found, span } = app.timeline.under(event.offsetX, event.offsetY);
  if (row?.kind === 'process') return app.toggleProcess(row.process);
  if (row?.kind === 'lane') app.setLane(row.lane);
  if (row?.kind === 'lane' && event.offsetX < app.timeline.gutter) return app.toggleLane();
  if (span !== undefined) app.goToSpan(span, false);
  else if (found !== undefined) app.goTo(found, false);
}

function showTip(app, { offsetX: x, offsetY: y }) {
  const tip = byId('tip');
  const under = app.timeline.under(x, y);
  tip.hidden = under.event === undefined && under.span === undefined;
  if (tip.hidden) return;
  const { title, text } = briefly(app.trace, under);
  tip.replaceChildren(element('b', {}, title), text);
  const frame = tip.parentElement;
  const top = byId('lanes').offsetTop + y;
  tip.style.left = `${Math.max(4, Math.min(x + 14, frame.clientWidth - tip.offsetWidth - 4))}px`;
  tip.style.top =
    top + tip.offsetHeight + 20 > frame.clientHeight
      ? `${Math.max(2, top - tip.offsetHeight - 10)}px`
      : `${top + 16}px`;
}
