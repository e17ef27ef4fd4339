// What the page asks its server for: files of the domain's tree, and the stream of news.

const commands = [];
let toldCommand = () => {};

export function onCommand(tell) {
  toldCommand = tell;
}

// As a shell takes it.
function quoted(word) {
  return /^[\w@%+=:,./-]+$/u.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function note(words) {
  commands.push(`landtrace ${words.map(quoted).join(' ')}`);
  if (commands.length > 200) commands.shift();
  toldCommand(commands);
}

async function textOf(answer) {
  const text = await answer.text();
  if (!answer.ok) throw new Error(text.trim() || answer.statusText);
  return text;
}

export async function readFile(path) {
  return textOf(await fetch(`read?path=${encodeURIComponent(path)}`));
}

// Throws the kernel's sentence where it is refused.
export async function writeFile(path, text, append = false) {
  note(['write', ...(append ? ['-a'] : []), path, text]);
  const address = `write?path=${encodeURIComponent(path)}&append=${append ? 1 : 0}`;
  await textOf(await fetch(address, { method: 'POST', headers: { 'X-Landtrace': '1' }, body: text }));
}

// Calls `take` with each message; the browser connects again by itself.
export function listen(take, lostContact) {
  const stream = new EventSource('stream');
  stream.addEventListener('message', (event) => take(JSON.parse(event.data)));
  stream.addEventListener('error', lostContact);
}
