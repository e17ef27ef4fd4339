// The tab of one event or span: all that is known of it.

import { element } from './dom.js';
import { visibleText } from './text.js';

function list(pairs) {
  return element(
    'dl',
    { className: 'details' },
    ...pairs.flatMap(([name, text]) => [element('dt', {}, name), element('dd', {}, text)]),
  );
}

function eventPairs(trace, event) {
  const type = trace.types[trace.type[event]];
  const thread = trace.threads[trace.thread[event]];
  const pairs = [
    ['event', visibleText(type.fullName)],
    ['time', `${trace.timeText(trace.time[event])} (${trace.durationText(trace.time[event])} since the first)`],
    ['thread', `${visibleText(thread.name) || '?'}, ${thread.tid} of process ${thread.pid}`],
    ['CPU', String(trace.cpu[event])],
  ];
  for (const field of type.fields) {
    pairs.push([
      visibleText(field.name),
      `${trace.valueText(field, trace.row[event]) ?? '(none)'}   (${visibleText(field.type)})`,
    ]);
  }
  const frames = trace.stackOf(event).map((number) => trace.frames[number]);
  if (frames.length > 0) {
    pairs.push([
      'stack',
      frames.map(({ name, file }) => visibleText(name) + (file ? `  [${visibleText(file)}]` : '')).join('\n'),
    ]);
  }
  return pairs;
}

function spanPairs(trace, span) {
  const { begin, end, thread, endThread, key, rule } = trace.spans;
  const { key: keyName } = trace.rules[rule[span]];
  return [
    ['span', trace.ruleText(rule[span])],
    [visibleText(keyName) || 'thread', trace.text(key[span])],
    ['took', trace.durationText(end[span] - begin[span])],
    ['began', `${trace.timeText(begin[span])} in ${trace.threadText(thread[span])}`],
    ['ended', `${trace.timeText(end[span])} in ${trace.threadText(endThread[span])}`],
  ];
}

export class DetailsPanel {
  constructor(app) {
    this.app = app;
    this.name = 'Details';
    this.hasSubject = false;
  }

  show(content) {
    const { trace, current, currentSpan } = this.app;
    if (currentSpan >= 0) content.replaceChildren(list(spanPairs(trace, currentSpan)));
    else if (current >= 0) content.replaceChildren(list(eventPairs(trace, current)));
    else
      content.replaceChildren(
        element('p', { className: 'empty' }, 'No event is chosen: click one, or go to one with . and ,'),
      );
  }
  follow() {
    this.show(document.getElementById('content'));
  }
}

// What the pointer is at, in a few lines: {title, text}.
export function briefly(trace, { event, span }) {
  const pairs = span !== undefined ? spanPairs(trace, span) : eventPairs(trace, event);
  return {
    title: pairs[0][1],
    text: pairs
      .slice(1, 14)
      .map(([name, text]) => `${name}: ${text}`)
      .join('\n'),
  };
}
