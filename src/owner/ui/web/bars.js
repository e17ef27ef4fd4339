// Bars with what they are of on the left, and how many on the right.

import { element } from './dom.js';
import { countText, visibleText } from './text.js';

// rows: [{key, count}]
export function barsOf(rows) {
  const most = rows.reduce((highest, { count }) => Math.max(highest, count), 1);
  return rows.flatMap(({ key, count }) => {
    const bar = element('i');
    bar.style.width = `${(100 * count) / most}%`;
    return [element('span', {}, visibleText(key)), element('span', {}, bar), element('span', {}, countText(count))];
  });
}
