// What the page asks its server for: files of the domain's tree, and the timeline.

import { get, note, noteLine, post, quoted } from './requests.js';

// The domain that all commands below are for.
let notedSocket = null;
export function noteSocket(socket) {
  if (socket === notedSocket) return;
  notedSocket = socket;
  noteLine(`export LANDTRACE_SOCKET=${quoted(socket)}`);
}

export async function readFile(path) {
  return get('read', { path });
}

// Throws the kernel's sentence where it is refused.
export async function writeFile(path, text, append = false) {
  note(['landtrace', 'write', ...(append ? ['-a'] : []), path, text]);
  await post('write', { path, append: append ? 1 : 0 }, text);
}

export async function readTimeline(part) {
  return JSON.parse(await get('timeline', part));
}

// The browser saves what the server has kept.
export function saveSnapshot(instance) {
  note(['landtrace', 'cat', `${instance}/trace_pipe`], ' > landtrace-snapshot.txt');
  const link = document.createElement('a');
  link.href = 'snapshot';
  link.download = '';
  link.click();
}
