// The live page: news of a domain as it comes.

import { byId } from './dom.js';
import { EventList } from './event_list.js';
import { EventPanel } from './event_panel.js';
import { LatencyPanel } from './latency_panel.js';
import { LinesPanel } from './lines_panel.js';
import { ProbePanel } from './probe_panel.js';
import { ProgramList } from './program_list.js';
import { RateChart } from './rate_chart.js';
import { listen } from './requests.js';
import { noteSocket } from './server.js';
import { StateLine } from './state_line.js';
import { countText } from './text.js';
import { startTheme } from './theme.js';
import { TimelinePanel } from './timeline_panel.js';

const kEvery_ms = 1000;
const kTabs = ['event', 'latency', 'probe'];

class Live {
  constructor() {
    this.instance = null;
    this.group = null;
    this.isConnected = false;
    this.updates = 0;
    this.state = new StateLine();
    this.events = new EventList(this);
    this.programs = new ProgramList(this);
    this.panel = new EventPanel(this);
    this.latency = new LatencyPanel(this);
    this.probes = new ProbePanel(this);
    this.lines = new LinesPanel(this);
    this.timeline = new TimelinePanel(this);
    this.chart = new RateChart(byId('chart'));
    for (const name of kTabs) byId(`${name}-tab`).addEventListener('click', () => this.showTab(name));
    byId('theme').addEventListener(
      'click',
      startTheme(() => {
        this.chart.draw();
        this.timeline.draw();
      }),
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
  }

  take(news) {
    ++this.updates;
    this.count = news.count;
    this.lost = news.lost;
    const isOther = news.isWhole || news.instance !== this.instance || news.isConnected !== this.isConnected;
    this.instance = news.instance;
    this.group = news.group;
    this.isConnected = news.isConnected;
    noteSocket(news.socket);
    this.events.take(news);
    this.programs.take(news);
    this.latency.take(news.tasks);
    this.probes.take(news.tasks);
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
    if (!this.isConnected) return this.state.tell('the domain is gone; waiting for it', true);
    this.state.tell(`records into ${this.instance} while it is open`, false);
    await this.refresh();
  }

  async refresh() {
    await this.state.watch(this.events.refresh());
  }

  async lookAgain() {
    if (!this.isConnected) return;
    this.#drawTotals();
    this.events.count(kEvery_ms / 1000);
    this.programs.draw();
    await Promise.allSettled([this.refresh(), this.panel.look(), this.probes.look()]);
  }
}

const live = new Live();
live.start();
window.landtraceLive = live;
