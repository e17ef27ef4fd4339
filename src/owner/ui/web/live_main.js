// The live page: news of a domain as it comes.

import { byId } from './dom.js';
import { EventList } from './event_list.js';
import { EventPanel } from './event_panel.js';
import { LinesPanel } from './lines_panel.js';
import { RateChart } from './rate_chart.js';
import { listen } from './server.js';
import { countText, visibleText } from './text.js';
import { startTheme } from './theme.js';

const kEvery_ms = 1000;

class Live {
  constructor() {
    this.instance = null;
    this.isConnected = false;
    this.updates = 0;
    this.events = new EventList(this);
    this.panel = new EventPanel(this);
    this.lines = new LinesPanel();
    this.chart = new RateChart(byId('chart'));
    byId('theme').addEventListener(
      'click',
      startTheme(() => this.chart.draw()),
    );
  }

  start() {
    listen(
      (news) => this.take(news),
      () => this.#tell('no contact with landtrace ui', true),
    );
    setInterval(() => this.#lookAgain(), kEvery_ms);
  }

  #tell(text, isGone) {
    byId('state').textContent = text;
    byId('state').className = isGone ? 'gone' : '';
  }
  complain(text) {
    this.#tell(visibleText(text), true);
  }

  take(news) {
    ++this.updates;
    this.count = news.count;
    this.lost = news.lost;
    const isOther = news.instance !== this.instance || news.isConnected !== this.isConnected;
    this.instance = news.instance;
    this.isConnected = news.isConnected;
    this.events.take(news);
    this.lines.take(news);
    this.#drawTotals();
    if (isOther) this.#begin();
  }

  #drawTotals() {
    if (!this.chart.add(this.count, this.lost, performance.now())) return;
    byId('rate').textContent = `${countText(Math.round(this.chart.rate))} events/s`;
    byId('lost').textContent = `${countText(this.lost)} lost`;
    byId('lost').className = this.lost > 0 ? 'some' : '';
  }

  async #begin() {
    if (!this.isConnected) return this.#tell('the domain is gone; waiting for it', true);
    this.#tell(`records into ${visibleText(this.instance)} while it is open`, false);
    await this.events.refresh().catch((error) => this.complain(error.message));
  }

  async #lookAgain() {
    if (!this.isConnected) return;
    this.#drawTotals();
    this.events.count(kEvery_ms / 1000);
    await Promise.allSettled([this.events.refresh(), this.panel.look()]);
  }
}

const live = new Live();
live.start();
window.landtraceLive = live;
