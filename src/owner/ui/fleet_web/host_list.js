// Who is in the fleet, here or away, and which of them the page is about.

import { byId, element } from './dom.js';
import { countText } from './text.js';
import { HostRows } from './host_rows.js';
import { refusedBy } from './orders.js';
import { WhereBox } from './where_box.js';

const kMissed = 3; // intervals without word: away
const kLeastMissed_ms = 10000; // … and so long at least
const kDraw_ms = 400;

const byName = (a, b) => (a.host < b.host ? -1 : a.host > b.host ? 1 : a.number - b.number);
const kOrders = {
  'by name': byName,
  'away first': (a, b) => b.isAway - a.isAway || byName(a, b),
  'most events first': (a, b) => b.rate - a.rate || byName(a, b),
  'most lost first': (a, b) => b.lostRate - a.lostRate || b.lost - a.lost || byName(a, b),
  'refusals first': (a, b) => refusedBy(b) - refusedBy(a) || byName(a, b),
};

export class HostList {
  constructor(live) {
    this.live = live;
    this.hosts = new Map(); // by number
    this.chosen = null;
    this.labels = []; // names that some host has
    this.drawn = 0;
    this.where = new WhereBox(() => this.draw());
    this.rows = new HostRows((number) => this.choose(number));
    this.sort = byId('sort');
    this.sort.append(...Object.keys(kOrders).map((name) => element('option', { value: name }, name)));
    this.sort.addEventListener('change', () => this.draw());
  }

  choose(number) {
    this.chosen = number;
    this.live.showTab('host');
    this.draw();
  }
  chooseByName(name) {
    const found = [...this.hosts.values()].find(({ host }) => host === name);
    if (found) this.choose(found.number);
  }

  // Hosts that have changed; of the first message of a stream all there are.
  take({ hosts, goneHosts, isWhole }) {
    if (isWhole) this.hosts.clear();
    for (const number of goneHosts) this.hosts.delete(number);
    let isOther = isWhole;
    for (const host of hosts) {
      const before = this.hosts.get(host.number);
      isOther ||= !before || JSON.stringify(before.labels) !== JSON.stringify(host.labels);
      host.heard = performance.now() - host.ageMs;
      this.hosts.set(host.number, host);
    }
    if (hosts.length + goneHosts.length > 0 || isWhole) this.#refresh();
    if (!isOther) return;
    this.labels = [...new Set([...this.hosts.values()].flatMap(({ labels }) => Object.keys(labels)))].sort();
    this.live.counts.setNames();
    if (this.where.chosen || this.where.isWrong) this.where.look();
  }

  // Who is away changes with time alone.
  #refresh() {
    const now = performance.now();
    for (const host of this.hosts.values()) {
      host.age = now - host.heard;
      host.isAway = host.age > Math.max(kMissed * host.intervalMs, kLeastMissed_ms);
    }
  }

  all() {
    return [...this.hosts.values()];
  }
  matching() {
    return this.all().filter((host) => this.where.matches(host));
  }

  look() {
    if (performance.now() - this.drawn >= kDraw_ms) this.draw();
  }

  draw() {
    this.#refresh();
    this.drawn = performance.now();
    const shown = this.matching().sort(kOrders[this.sort.value]);
    const away = shown.filter(({ isAway }) => isAway).length;
    const of = this.where.chosen ? ` of ${countText(this.hosts.size)}` : '';
    byId('host-count').textContent =
      this.hosts.size === 0
        ? 'No host has joined yet: landtraced --fleet joins one.'
        : `${countText(shown.length)}${of} hosts, ${countText(away)} away`;
    this.rows.show(shown, this.chosen);
    this.live.drawTotals();
    this.live.host.draw(this.hosts.get(this.chosen));
    this.live.form.drawWhere();
  }
}
