// What the page asks its server for: files of the domain's tree, commands that look, and the stream of news.

const commands = [];
let toldCommand = () => {};

export function onCommand(tell) {
  toldCommand = tell;
  tell(commands);
}

// As a shell takes it.
function quoted(word) {
  return /^[\w@%+=:,./-]+$/u.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function note(words, rest = '') {
  commands.push(`${words.map(quoted).join(' ')}${rest}`);
  if (commands.length > 200) commands.shift();
  toldCommand(commands);
}

// The domain that all commands below are for.
let notedSocket = null;
export function noteSocket(socket) {
  if (socket === notedSocket) return;
  notedSocket = socket;
  commands.push(`export LANDTRACE_SOCKET=${quoted(socket)}`);
  toldCommand(commands);
}

async function textOf(answer) {
  const text = await answer.text();
  if (!answer.ok) throw new Error(text.trim() || answer.statusText);
  return text;
}

function addressOf(path, parameters) {
  return `${path}?${new URLSearchParams(parameters)}`;
}

async function post(path, parameters, body = '') {
  return textOf(await fetch(addressOf(path, parameters), { method: 'POST', headers: { 'X-Landtrace': '1' }, body }));
}

export async function readFile(path) {
  return textOf(await fetch(addressOf('read', { path })));
}

// Throws the kernel's sentence where it is refused.
export async function writeFile(path, text, append = false) {
  note(['landtrace', 'write', ...(append ? ['-a'] : []), path, text]);
  await post('write', { path, append: append ? 1 : 0 }, text);
}

// A command that the server runs for the page: its number. What it prints comes with the news.
export async function runCommand(parameters) {
  return Number(await post('run', parameters));
}
export async function stopCommand(number) {
  await post('stop', { number });
}
export function noteCommand(words) {
  note(['landtrace', ...words]);
}

export async function readTimeline(part) {
  return JSON.parse(await textOf(await fetch(addressOf('timeline', part))));
}

// The browser saves what the server has kept.
export function saveSnapshot(instance) {
  note(['landtrace', 'cat', `${instance}/trace_pipe`], ' > landtrace-snapshot.txt');
  const link = document.createElement('a');
  link.href = 'snapshot';
  link.download = '';
  link.click();
}

// Calls `take` with each message; the browser connects again by itself.
export function listen(take, lostContact) {
  const stream = new EventSource('stream');
  stream.addEventListener('message', (event) => take(JSON.parse(event.data)));
  stream.addEventListener('error', lostContact);
}
