// One host: what it says of itself, and what it made of its orders.

import { byId, element } from './dom.js';
import { countText, visibleText } from './text.js';
import { labelsText, leftText } from './orders.js';

export class HostPanel {
  constructor(live) {
    this.live = live;
    this.drawn = '';
  }

  draw(host) {
    if (!host || byId('host').hidden) return;
    const facts = [
      ['State', host.isAway ? `away, last heard of ${leftText(host.age)} ago` : 'here'],
      ['Domain', host.domain],
      ['Labels', labelsText(host.labels) || '–'],
      ['Version', host.version],
      ['Users', countText(host.users)],
      ['Events', `${countText(host.events)} registered, ${countText(host.enabled)} enabled`],
      ['Recorded', `${countText(host.recorded)}, ${countText(Math.round(host.rate))} a second`],
      ['Lost', countText(host.lost)],
      ['Frames never sent', countText(host.unsent)],
    ];
    // What the user selects stays as long as nothing has changed.
    const texts = host.orders.map(({ id }) => this.live.orders.textOf(id));
    const now = JSON.stringify([host.number, facts, host.orders, texts]);
    if (now === this.drawn && byId('host').childElementCount > 1) return;
    this.drawn = now;
    const only = element('button', { type: 'button' }, 'This one alone');
    only.addEventListener('click', () => this.live.hosts.where.set(`host=${globText(host.host)}`));
    byId('host').replaceChildren(
      element('div', { className: 'row' }, element('h3', {}, visibleText(host.host)), only),
      element(
        'div',
        { className: 'fields' },
        ...facts.flatMap(([name, value]) => [element('span', {}, name), element('span', {}, visibleText(value))]),
      ),
      element('h2', {}, 'Its orders'),
      ...host.orders.map((order) => this.#order(order)),
      ...(host.orders.length === 0 ? [element('p', { className: 'empty' }, 'None.')] : []),
    );
  }

  #order({ id, state, events, refusals, missing }) {
    const what = this.live.orders.textOf(id);
    return element(
      'div',
      { className: 'order' },
      element('code', {}, visibleText(`${id} ${what}`)),
      element('span', { className: state === 'refused' ? 'bad' : 'field' }, `  ${state}, ${countText(events)} events`),
      ...refusals.map(([event, reason]) =>
        element('div', { className: 'reasons bad' }, visibleText(event ? `${event}: ${reason}` : reason)),
      ),
      ...missing.map((event) => element('div', { className: 'reasons' }, visibleText(`it has no event ${event}`))),
    );
  }
}

// A name that stands for itself in an expression, whatever is in it: a quote is any one character there.
function globText(name) {
  const glob = name.replaceAll(/[[\]*?\\]/gu, (c) => `\\${c}`).replaceAll(/["']/gu, '?');
  return /^[\w.:/%+@-]+$/u.test(glob) ? glob : `"${glob}"`;
}
