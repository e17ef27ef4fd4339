// The page of a fleet: news of its hosts and orders as they come.

import { byId } from './dom.js';
import { CountsPanel } from './counts_panel.js';
import { HostList } from './host_list.js';
import { HostPanel } from './host_panel.js';
import { OrderForm } from './order_form.js';
import { OrderPanel } from './order_panel.js';
import { someNames } from './orders.js';
import { listen, noteLine, quoted } from './requests.js';
import { StateLine } from './state_line.js';
import { TailPanel } from './tail_panel.js';
import { countText } from './text.js';
import { startTheme } from './theme.js';

const kEvery_ms = 1000;
const kTabs = ['counts', 'orders', 'form', 'host'];

class Fleet {
  constructor() {
    this.isConnected = false;
    this.updates = 0;
    this.servers = null;
    this.state = new StateLine();
    this.counts = new CountsPanel(this);
    this.orders = new OrderPanel(this);
    this.host = new HostPanel(this);
    this.hosts = new HostList(this);
    this.form = new OrderForm(this);
    this.tail = new TailPanel(this);
    for (const name of kTabs) byId(`${name}-tab`).addEventListener('click', () => this.showTab(name));
    byId('theme').addEventListener(
      'click',
      startTheme(() => this.counts.redraw()),
    );
  }

  start() {
    listen(
      (news) => this.take(news),
      () => this.state.tell('no contact with landtrace ui', true),
    );
    setInterval(() => this.lookAgain(), kEvery_ms);
  }

  showTab(wanted) {
    for (const name of kTabs) {
      byId(name).hidden = name !== wanted;
      byId(`${name}-tab`).setAttribute('aria-selected', String(name === wanted));
    }
    this.orders.draw();
    this.host.draw(this.hosts.hosts.get(this.hosts.chosen));
    this.look();
  }

  // An order that was given here.
  showOrder(id, kind) {
    if (kind === 'latency' || kind === 'hist') this.counts.show(id);
    else this.showTab('orders');
  }

  take(news) {
    ++this.updates;
    const isOther = news.isConnected !== this.isConnected || news.isWhole;
    this.isConnected = news.isConnected;
    if (news.servers !== this.servers) {
      this.servers = news.servers;
      noteLine(`export LANDTRACE_FLEET=${quoted(news.servers)}`);
    }
    this.hosts.take(news);
    this.orders.take(news);
    this.tail.take(news);
    this.form.take(news.tasks);
    this.hosts.look();
    if (isOther || !this.isConnected) this.#tellState(news);
    if (news.refusedHosts.length > 0)
      this.state.complain(`left out, speaking for others or making no sense: ${someNames(news.refusedHosts)}`);
  }

  #tellState({ said, servers }) {
    if (this.isConnected) this.state.tell(`the fleet at ${servers}`, false);
    else this.state.tell(said === 'connecting' ? said : `${said}; waiting for it`, said !== 'connecting');
  }

  drawTotals() {
    const hosts = this.hosts.all();
    const away = hosts.filter(({ isAway }) => isAway).length;
    const sum = (name) => hosts.reduce((total, host) => total + host[name], 0);
    byId('here').textContent = `${countText(hosts.length - away)} here, ${countText(away)} away`;
    byId('here').className = away > 0 ? 'bad' : '';
    byId('rate').textContent = `${countText(Math.round(sum('rate')))} events/s`;
    byId('lost').textContent = `${countText(sum('lost'))} lost`;
    byId('lost').className = sum('lostRate') > 0 ? 'some' : '';
  }

  async lookAgain() {
    this.hosts.draw();
    this.orders.draw();
    await this.look();
  }

  async look() {
    await this.state.watch(this.counts.look());
  }
}

const fleet = new Fleet();
fleet.start();
window.landtraceLive = fleet;
