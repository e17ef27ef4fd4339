// What an order has counted, as it grows: over all hosts, and by host, by label or by the fields that it counts by.

import { barsOf } from './bars.js';
import { byId, element } from './dom.js';
import { get, note } from './requests.js';
import { counted, countText, visibleText } from './text.js';
import { groupName, HeatRows, slowestOf, valueText } from './heat_rows.js';
import { hostsText, orderText, someNames } from './orders.js';

const kNames = ['p50', 'p90', 'p99', 'p99.9'];
const kMostBars = 100;

function figuresText(one) {
  return kNames.map((name, i) => `${name} ${valueText(one, one.all.percentiles[i])}`).join('   ');
}

function spreadRows(one) {
  const text = (value) => valueText(one, value);
  return one.all.columns.map(([, low, high, count]) => ({ key: `${text(low)} – ${text(high)}`, count }));
}

function groupRows(one) {
  return one.groups.slice(0, kMostBars).map((group) => ({ key: groupName(one, group), count: group.count }));
}

export class CountsPanel {
  constructor(live) {
    this.live = live;
    this.orders = [];
    this.keys = [];
    this.event = 0; // of several that a pattern matches, which
    this.seen = null; // what the server said last
    const select = (id, label) => {
      const made = element('select', { id });
      made.setAttribute('aria-label', label);
      return made;
    };
    this.order = select('counts-order', 'Order');
    this.by = select('counts-by', 'By');
    this.events = select('counts-event', 'Event');
    this.said = element('p', { className: 'field', id: 'counts-said' });
    this.slowest = element('p', { id: 'slowest' });
    this.figures = element('p', { className: 'figures', id: 'counts-figures' });
    const heat = element('canvas', { id: 'heat', role: 'img' });
    heat.setAttribute('aria-label', 'Groups by p99, and where their values lie');
    const told = element('p', { id: 'heat-told' });
    this.groups = element('div', { className: 'bars', id: 'group-bars' });
    this.all = element('div', { className: 'bars', id: 'all-bars' });
    this.allTitle = element('h2', {}, 'All together');
    byId('counts').replaceChildren(
      element('div', { className: 'row' }, this.order, element('label', {}, 'by ', this.by), this.events),
      this.said,
      this.slowest,
      heat,
      told,
      this.groups,
      this.allTitle,
      this.figures,
      this.all,
    );
    this.heat = new HeatRows(heat, told);
    this.order.addEventListener('change', () => this.#choose());
    this.by.addEventListener('change', () => this.#choose());
    this.events.addEventListener('change', () => {
      this.event = Number(this.events.value);
      this.#draw();
    });
    this.setNames();
    this.#draw();
  }

  show(id) {
    this.#fill(id);
    this.live.showTab('counts');
    this.#choose();
  }

  #choose() {
    this.seen = null;
    this.#draw();
    const id = this.order.value;
    if (!id) return;
    const labels = this.by.value.split(',').filter((name) => name && !this.keys.includes(name));
    note(['landtrace', 'fleet', 'show', id, ...(labels.length > 0 ? [`--per=${labels.join(',')}`] : [])]);
    this.live.look();
  }

  setOrders(orders) {
    const before = this.order.value;
    this.orders = orders;
    this.#fill(before);
    if (this.order.value !== before) this.#choose();
  }

  // One that has gone stays for as long as it is shown: what was counted is there.
  #fill(chosen) {
    const options = this.orders.map((order) => [order.id, `${order.id}  ${orderText(order)}`]);
    if (chosen && !options.some(([id]) => id === chosen)) options.unshift([chosen, `${chosen}  has ended`]);
    this.order.replaceChildren(...options.map(([id, text]) => element('option', { value: id }, visibleText(text))));
    if (chosen) this.order.value = chosen;
    this.order.hidden = options.length === 0;
  }

  // What groups can be by.
  setNames() {
    const labels = ['host', ...(this.live.hosts?.labels ?? [])];
    const { keys } = this;
    const own = keys.filter((key) => !labels.includes(key));
    const choices = ['', ...labels, ...own, ...keys.map((key) => `host,${key}`)];
    const before = this.by.childElementCount > 0 ? this.by.value : 'host';
    this.by.replaceChildren(
      ...choices.map((each) =>
        element('option', { value: each }, each ? visibleText(each.replace(',', ' and ')) : 'nothing, all together'),
      ),
    );
    this.by.value = choices.includes(before) ? before : '';
  }

  async look() {
    const [order, by] = [this.order.value, this.by.value];
    if (!order || byId('counts').hidden || document.hidden) return;
    const seen = JSON.parse(await get('counts', { order, by }));
    if (this.order.value !== order || this.by.value !== by) return;
    this.seen = seen;
    const keys = seen.events[0]?.keys ?? [];
    if (keys.join() !== this.keys.join()) {
      this.keys = keys;
      this.setNames();
    }
    this.#draw();
  }

  redraw() {
    this.heat.draw();
  }

  #draw() {
    const events = this.seen?.events ?? [];
    this.#drawEvents(events);
    const one = events[this.event] ?? null;
    const hasSpread = one !== null && one.value !== '';
    this.heat.show(hasSpread && one.groups.length > 0 ? one : null);
    this.slowest.textContent = hasSpread ? this.#slowestText(one) : '';
    this.slowest.className = hasSpread && slowestOf(one)?.isSlow ? 'bad' : '';
    this.said.textContent = visibleText(this.#saidText(one));
    this.allTitle.hidden = !hasSpread;
    this.figures.textContent = hasSpread ? figuresText(one) : '';
    this.all.replaceChildren(...(hasSpread ? barsOf(spreadRows(one)) : []));
    this.groups.replaceChildren(...(one && !hasSpread ? barsOf(groupRows(one)) : []));
  }

  #drawEvents(events) {
    if (this.event >= events.length) this.event = 0;
    this.events.hidden = events.length < 2;
    const names = events.map(({ event }) => visibleText(event));
    if (names.join('\n') === [...this.events.options].map((each) => each.textContent).join('\n')) return;
    this.events.replaceChildren(...names.map((name, i) => element('option', { value: i }, name)));
    this.events.value = String(this.event);
  }

  #slowestText(one) {
    const slowest = slowestOf(one);
    if (!slowest) return '';
    const { group, middle, isSlow } = slowest;
    const [own, usual] = [valueText(one, group.percentiles[2]), valueText(one, middle)];
    return visibleText(
      `${isSlow ? '▲ Slow' : 'Slowest'}: ${groupName(one, group)}, p99 ${own}; the p99 in the middle is ${usual}`,
    );
  }

  #saidText(one) {
    if (!this.order.value) return 'There is no order that counts: New order gives one.';
    if (!this.seen) return 'Asks …';
    if (!one) return 'Nothing was counted yet.';
    const said = [`${countText(one.all.count)} counted at ${hostsText(one.hosts)}`];
    if (one.starts > 0) said.push(`${countText(one.starts)} without an end`);
    if (one.ends > 0) said.push(`${countText(one.ends)} without a begin`);
    if (one.lost > 0) said.push(`${countText(one.lost)} lost`);
    if (one.dropped > 0) said.push(`${countText(one.dropped)} without room in a histogram`);
    if (one.misfits.length > 0) said.push(`left out, having other fields: ${someNames(one.misfits)}`);
    const more = one.groupsInAll - one.groups.length;
    if (more > 0) said.push(`${counted(more, 'group')} with a lower ${one.value ? 'p99' : 'count'} not shown`);
    return said.join(', ');
  }
}
