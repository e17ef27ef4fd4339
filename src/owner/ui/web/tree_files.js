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
