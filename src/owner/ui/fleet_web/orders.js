// What is known of orders and hosts, put together: what hosts made of an order.

import { countText } from './text.js';

export function labelsText(labels) {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(',');
}

// "latency req_start -> req_done by route if status >= 500"
export function orderText({about, to, by, triggers, filter}) {
  const parts = [about];
  if (to) parts.push('->', to);
  if (by.length > 0) parts.push('by', by.join(','));
  for (const trigger of triggers) parts.push(`'${trigger}'`);
  if (filter) parts.push('if', filter);
  return parts.join(' ');
}

export function isCounted({ kind }) {
  return kind === 'hist' || kind === 'latency';
}

export function leftText(ms) {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

// "3 hosts", "1 host".
export function hostsText(count) {
  return `${countText(count)} ${count === 1 ? 'host' : 'hosts'}`;
}

// Orders of which a host does not do all.
export function refusedBy(host) {
  return host.orders.filter(({ state, refusals }) => state === 'refused' || refusals.length > 0).length;
}

// {applied, refused, ended, events, reasons: [[text, [host…]]…], missing: [event…]}; of each reason who gave it,
// those of most hosts first.
export function reportsOf(id, hosts) {
  const reports = { applied: 0, refused: 0, ended: 0, events: 0 };
  const reasons = new Map();
  const missing = new Map();
  const there = new Set();
  for (const host of hosts) {
    for (const state of host.orders) {
      if (state.id !== id) continue;
      ++reports[state.state];
      reports.events += state.events;
      for (const [event, reason] of state.refusals) {
        const text = event ? `${event}: ${reason}` : reason;
        if (!reasons.has(text)) reasons.set(text, []);
        reasons.get(text).push(host.host);
      }
      if (state.state === 'refused') continue;
      for (const event of state.missing) missing.set(event, (missing.get(event) ?? 0) + 1);
      for (const event of state.there) there.add(event);
    }
  }
  const doing = reports.applied + reports.ended;
  reports.reasons = [...reasons].sort(([, a], [, b]) => b.length - a.length);
  reports.missing = [...missing].filter(([, count]) => count === doing).map(([event]) => event);
  reports.there = [...there];
  return reports;
}

// "web-1, web-2 and 7 more"
export function someNames(names, most = 5) {
  const shown = names.slice(0, most).join(', ');
  return names.length > most ? `${shown} and ${countText(names.length - most)} more` : shown;
}
