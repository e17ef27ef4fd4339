// Reads the data of the page, and starts.

import { App } from './app.js';
import { fromBase64 } from './bytes.js';
import { Decoder } from './decode.js';
import { byId } from './dom.js';
import { fillHelp, listenToKeys, listenToPointer } from './keys.js';
import { counted, countText, visibleText } from './text.js';

function decodePage() {
  const decoder = new Decoder();
  for (const block of document.querySelectorAll('script[type="application/x-landtrace"]')) {
    decoder.add(fromBase64(block.textContent));
    block.remove();
  }
  return decoder.finish();
}

function lostText(trace) {
  const isExact = trace.losses.every(({ count }) => count > 0);
  const count = trace.losses.reduce((sum, loss) => sum + loss.count, 0);
  return `${isExact ? '' : 'at least '}${counted(count, 'event')} were lost, and are marked where they were`;
}

function fillBar(app) {
  const { trace } = app;
  const file = visibleText(trace.about.get('file') ?? '');
  document.title = `${file} – Landtrace`;
  byId('title').textContent = file;
  byId('title').title = file;
  const parts = [counted(trace.count, 'event')];
  if (trace.rules.length > 0) parts.push(counted(trace.spans.count, 'span'));
  parts.push(counted(app.lanes.processes.length, 'process'), trace.durationText(trace.end - trace.begin));
  byId('summary').textContent = parts.join(', ');
  const notices = [];
  if (trace.losses.length > 0) notices.push(lostText(trace));
  if (app.more > 0)
    notices.push(
      `${app.moreText}: it holds the first ${countText(trace.count)}; --from, --to, --filter or --limit choose others`,
    );
  if (trace.about.has('unfinished')) notices.push('the recording was not finished when the page was made');
  if (trace.about.has('damaged')) {
    const read = counted(trace.number('read'), 'event');
    notices.push(`the recording is damaged: ${visibleText(trace.about.get('damaged'))}; ${read} could be read`);
  }
  const open = trace.number('open_spans');
  const unmatched = trace.number('unmatched_ends');
  if (open + unmatched > 0)
    notices.push(`spans without an end: ${countText(open)}, ends without a begin: ${countText(unmatched)}`);
  byId('notice').hidden = notices.length === 0;
  byId('notice').textContent = notices.map((text) => `⚠ ${text}`).join('   ');
}

function listenToBar(app) {
  const search = byId('search');
  let waiting = 0;
  search.addEventListener('input', () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => app.setQuery(search.value), 120);
  });
  search.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') {
      clearTimeout(waiting);
      app.setQuery(search.value);
      app.stepHit(event.shiftKey ? -1 : 1);
    } else if (event.key === 'Escape') {
      search.value = '';
      app.setQuery('');
      byId('lanes').focus();
    }
  });
  byId('next-hit').addEventListener('click', () => app.stepHit(1));
  byId('previous-hit').addEventListener('click', () => app.stepHit(-1));
  byId('theme').addEventListener('click', () => app.toggleTheme());
  byId('help-button').addEventListener('click', () => byId('help').showModal());
}

// The lower part is as tall as the user wants.
function listenToDivider(app) {
  const divider = byId('divider');
  const panel = byId('panel');
  const set = (height) => {
    panel.style.height = `${Math.max(70, Math.min(byId('main').clientHeight - 80, height))}px`;
    app.redraw();
    app.panels[app.tab].draw?.();
  };
  divider.addEventListener('pointerdown', (event) => divider.setPointerCapture(event.pointerId));
  divider.addEventListener('pointermove', (event) => {
    if (divider.hasPointerCapture(event.pointerId)) set(byId('main').getBoundingClientRect().bottom - event.clientY);
  });
  divider.addEventListener('keydown', (event) => {
    const step = { ArrowUp: 24, ArrowDown: -24 }[event.key];
    if (!step) return;
    set(panel.clientHeight + step);
    event.preventDefault();
    event.stopPropagation();
  });
}

try {
  const app = new App(decodePage());
  app.start();
  fillBar(app);
  fillHelp(byId('help'));
  listenToBar(app);
  listenToDivider(app);
  listenToKeys(app);
  listenToPointer(app, byId('lanes'));
  app.showAll();
  byId('lanes').focus();
  window.landtrace = app;
} catch (error) {
  byId('notice').hidden = false;
  byId('notice').textContent = `This page is damaged, or the browser is too old: ${error.message}`;
  throw error;
}
