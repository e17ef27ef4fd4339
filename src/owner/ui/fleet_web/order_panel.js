// What hosts are to do, what they made of it, and its end.

import { byId, element } from './dom.js';
import { runCommand } from './requests.js';
import { countText, visibleText } from './text.js';
import { hostsText, isCounted, leftText, orderText, reportsOf, someNames } from './orders.js';

const kMostReasons = 6;
const kMostOrders = 200;

export class OrderPanel {
  constructor(live) {
    this.live = live;
    this.orders = [];
    this.refused = [];
    this.heard = 0;
    this.drawn = '';
  }

  take(news) {
    if (!news.orders) return;
    this.orders = news.orders;
    this.refused = news.refusedOrders;
    this.heard = performance.now();
    this.live.counts.setOrders(this.orders.filter(isCounted));
    this.draw();
  }

  find(id) {
    return this.orders.find((order) => order.id === id);
  }
  textOf(id) {
    const order = this.find(id);
    return order ? orderText(order) : '';
  }

  leftMs({ leftMs }) {
    return leftMs === null ? null : Math.max(0, leftMs - (performance.now() - this.heard));
  }

  draw() {
    const panel = byId('orders');
    if (panel.hidden) return;
    const hosts = this.live.hosts.all();
    const shown = this.orders.slice(0, kMostOrders).map((order) => {
      const left = this.leftMs(order);
      const reports = reportsOf(order.id, hosts);
      return { order, reports, left: left === null ? '' : leftText(left), hasEnded: left === 0 };
    });
    const now = JSON.stringify([shown, this.refused]);
    if (now === this.drawn && panel.childElementCount > 0) return;
    this.drawn = now;
    const parts = shown.map((each) => this.#order(each));
    if (parts.length === 0) parts.push(element('p', { className: 'empty' }, 'There is no order.'));
    const more = this.orders.length - kMostOrders;
    if (more > 0) parts.push(element('p', { className: 'empty' }, `${countText(more)} more orders are not shown.`));
    const left = visibleText(`Left out, as they make no sense: ${someNames(this.refused)}`);
    if (this.refused.length > 0) parts.push(element('p', { className: 'bad' }, left));
    panel.replaceChildren(...parts);
  }

  #order({ order, reports, left, hasEnded }) {
    const { id } = order;
    const button = (text, act) => {
      const made = element('button', { type: 'button' }, text);
      made.addEventListener('click', act);
      return made;
    };
    const reason = (text) => element('div', { className: 'reasons bad' }, visibleText(text));
    const told = [`${hostsText(reports.applied + reports.ended)} took it`];
    if (reports.refused > 0) told.push(`${countText(reports.refused)} refused`);
    told.push(`${countText(reports.events)} events`);
    told.push(hasEnded ? 'has ended' : left ? `ends in ${left}` : 'does not end by itself');
    if (order.where) told.push(`where ${order.where}`);
    if (order.byWhom) told.push(`by ${order.byWhom}`);
    const reasons = reports.reasons.slice(0, kMostReasons).map(([why, hosts]) => reason(`${someNames(hosts)}: ${why}`));
    const more = reports.reasons.length - kMostReasons;
    if (more > 0) reasons.push(reason(`and ${countText(more)} other reasons`));
    return element(
        'div',
        {className: `order${hasEnded ? ' ended' : ''}`},
        element(
            'div',
            {className: 'row'},
            element('code', {}, visibleText(`${id}  ${orderText(order)}`)),
            ...(isCounted(order) ? [button('Show', () => this.live.counts.show(id))] : []),
            button('End', () => this.#end(id)),
            ),
        element('div', {className: 'field'}, visibleText(told.join(', '))),
        ...reasons,
        ...reports.missing.map(
            (event) => reason(
                order.probeGroup && event.startsWith(order.probeGroup) ? `no host has had an event of ${order.about}` :
                                                                         `no host has had an event ${event}`,
                ),
            ),
    );
  }

  #end(order) {
    runCommand({ command: 'end', order }).catch((error) => this.live.state.complain(error.message));
  }
}
