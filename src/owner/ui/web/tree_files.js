// Texts of the tree's files, read apart.

// Of an event's `format`: its own fields. {name, type, isText}
export function fieldsOf(format) {
  const fields = [];
  for (const [, declared] of format.matchAll(/^\tfield:([^;]*);/gmu)) {
    const name = /([\w.]+)(?:\[\d*\])?$/u.exec(declared)?.[1] ?? '';
    const type =
      declared.slice(0, declared.lastIndexOf(name)).trim() + declared.slice(declared.lastIndexOf(name) + name.length);
    if (!name.startsWith('common_')) fields.push({ name, type, isText: /char/u.test(type) });
  }
  return fields;
}

// Of `hist`: the rows of the histogram with these keys, [{key, count}], and how many were counted.
export function rowsOfHistogram(text, keys) {
  for (const part of text.split('# event histogram')) {
    if (!part.includes(`hist:keys=${keys}:`)) continue;
    const rows = Array.from(part.matchAll(/^\{ [^:]*:\s*(.*?)\s*\} hitcount:\s*(\d+)/gmu), ([, key, count]) => ({
      key,
      count: Number(count),
    }));
    return { rows, hits: Number(/Hits: (\d+)/u.exec(part)?.[1] ?? 0) };
  }
  return { rows: [], hits: 0 };
}

// The order of "~ 2^5", "17" and texts.
export function orderOfKey(key) {
  const number = /(?:2\^)?(-?\d+)/u.exec(key)?.[1];
  return number === undefined ? Infinity : Number(number);
}

// Of `trigger`: what is set, as it is written to be removed.
export function triggersOf(text) {
  return text
    .split('\n')
    .filter((line) => line && !line.startsWith('#'))
    .map((line) => line.replace(/ \[\w+\]$/u, ''));
}

// Of error_log: its last entry about this command, with a caret below the place; '' if there is none.
//     [    1.000002] hist:user_events:job: error: WHAT
//       Command: LINE
//                  ^
// A trigger's condition has an entry of its own, as a filter.
export function mistakeIn(log, command) {
  const condition = command.lastIndexOf(' if ') + 4;
  return entryOf(log, command, 0) || (condition > 4 ? entryOf(log, command, condition) : '');
}

function entryOf(log, command, begin) {
  const lead = '  Command: ';
  const said = `\n${lead}${command.slice(begin)}\n`;
  const at = log.lastIndexOf(said);
  if (at < 0) return '';
  const head = log.slice(log.lastIndexOf('\n', at - 1) + 1, at);
  const caret = log.slice(at + said.length).split('\n')[0].slice(lead.length);
  return `${command}\n${' '.repeat(begin)}${caret}\n${head.replace(/^.*?: error: /u, '')}`;
}

// Of uprobe_events: the probes of a group, [{name, definition}].
export function probesOf(text, group) {
  return text.split('\n').flatMap((definition) => {
    const [, owner, name] = /^[pr]\d*:([^/ ]+)\/(\S+)/u.exec(definition) ?? [];
    return owner === group ? [{ name, definition }] : [];
  });
}
