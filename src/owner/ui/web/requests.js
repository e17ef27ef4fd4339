// What a page asks its server for, and the commands that it has done so far: for each thing that it does, one that does
// the same in a shell.

const commands = [];
let toldCommand = () => {};

export function onCommand(tell) {
  toldCommand = tell;
  tell(commands);
}

// As a shell takes it.
export function quoted(word) {
  return /^[\w@%+=:,./-]+$/u.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

// A line as it is.
export function noteLine(line) {
  commands.push(line);
  if (commands.length > 200) commands.shift();
  toldCommand(commands);
}

export function note(words, rest = '') {
  noteLine(`${words.map(quoted).join(' ')}${rest}`);
}

export async function textOf(answer) {
  const text = await answer.text();
  if (!answer.ok) throw new Error(text.trimEnd() || answer.statusText);
  return text;
}

export function addressOf(path, parameters) {
  return `${path}?${new URLSearchParams(parameters)}`;
}

export async function get(path, parameters) {
  return textOf(await fetch(addressOf(path, parameters)));
}

export async function post(path, parameters, body = '') {
  return textOf(await fetch(addressOf(path, parameters), { method: 'POST', headers: { 'X-Landtrace': '1' }, body }));
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

// Calls `take` with each message; the browser connects again by itself.
export function listen(take, lostContact) {
  const stream = new EventSource('stream');
  stream.addEventListener('message', (event) => take(JSON.parse(event.data)));
  stream.addEventListener('error', lostContact);
}
