// Rows of hosts, of which there are as many elements as fit the screen, however many hosts there are.

import { byId, element } from './dom.js';
import { countText, visibleText } from './text.js';
import { labelsText, leftText, refusedBy } from './orders.js';

const kHeight = 42; // of a row, as fleet.css has it
const kSpare = 4; // rows above and below

export class HostRows {
  constructor(choose) {
    this.choose = choose;
    this.hosts = [];
    this.chosen = null;
    this.rows = new Map(); // by number
    this.box = byId('host-rows');
    this.space = element('div', { id: 'host-space' });
    this.box.append(this.space);
    this.box.addEventListener('scroll', () => this.draw());
    this.box.addEventListener('keydown', (event) => this.#move(event));
    new ResizeObserver(() => this.draw()).observe(this.box);
  }

  show(hosts, chosen) {
    this.hosts = hosts;
    this.chosen = chosen;
    this.draw();
  }

  #move(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || this.hosts.length === 0) return;
    event.preventDefault();
    const at = this.hosts.findIndex(({ number }) => number === this.chosen);
    const to = Math.max(0, Math.min(this.hosts.length - 1, at + step));
    this.choose(this.hosts[to].number);
    const top = to * kHeight;
    if (top < this.box.scrollTop) this.box.scrollTop = top;
    const below = top + kHeight - this.box.clientHeight;
    if (below > this.box.scrollTop) this.box.scrollTop = below;
  }

  draw() {
    this.space.style.height = `${this.hosts.length * kHeight}px`;
    const first = Math.max(0, Math.floor(this.box.scrollTop / kHeight) - kSpare);
    const count = Math.ceil(this.box.clientHeight / kHeight) + 2 * kSpare;
    const shown = this.hosts.slice(first, first + count);
    const numbers = new Set(shown.map(({ number }) => number));
    for (const [number, row] of this.rows) {
      if (numbers.has(number)) continue;
      row.box.remove();
      this.rows.delete(number);
    }
    shown.forEach((host, i) => {
      if (!this.rows.has(host.number)) this.rows.set(host.number, this.#row(host.number));
      this.#fill(this.rows.get(host.number), host, first + i);
    });
  }

  #row(number) {
    const part = (name, className) => element(name, { className });
    const row = {
      mark: part('span', 'mark'),
      name: element('b'),
      labels: element('span'),
      rate: part('span', 'number'),
      lost: part('span', 'number'),
      orders: part('span', 'number'),
    };
    row.box = element(
      'div',
      { className: 'host', role: 'listitem' },
      row.mark,
      element('span', { className: 'who' }, row.name, row.labels),
      row.rate,
      row.lost,
      row.orders,
    );
    row.box.addEventListener('click', () => this.choose(number));
    this.box.append(row.box);
    return row;
  }

  #fill(row, host, place) {
    const refused = refusedBy(host);
    const applied = host.orders.filter(({ state }) => state === 'applied').length;
    const below = (text) => element('span', {}, text);
    row.box.style.top = `${place * kHeight}px`;
    row.box.className = `host${host.isAway ? ' away' : ''}${host.number === this.chosen ? ' chosen' : ''}`;
    row.mark.textContent = host.isAway ? '✖' : '●';
    row.mark.title = host.isAway ? 'away' : 'here';
    row.name.textContent = visibleText(host.host) + (host.isAway ? `  away ${leftText(host.age)}` : '');
    row.labels.textContent = visibleText(labelsText(host.labels) || host.domain);
    row.box.title = visibleText(`${host.host} ${host.domain} ${labelsText(host.labels)}`);
    row.rate.replaceChildren(`${countText(Math.round(host.rate))}/s`, below(`${countText(host.recorded)} rec.`));
    const lost = host.unsent > 0 ? `${countText(host.unsent)} unsent` : 'lost';
    row.lost.replaceChildren(countText(host.lost), below(lost));
    row.lost.classList.toggle('bad', host.lostRate > 0 || host.unsent > 0);
    row.orders.replaceChildren(countText(applied), below(refused > 0 ? `${countText(refused)} ref.` : 'orders'));
    row.orders.classList.toggle('bad', refused > 0);
  }
}
