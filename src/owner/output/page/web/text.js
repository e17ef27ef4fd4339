// Numbers, times and texts of the recording as people read them. What comes out goes to textContent and fillText alone.

const grouped = new Intl.NumberFormat('en-US');

export function countText(count) {
  return typeof count === 'bigint' || Number.isInteger(count) ? grouped.format(count) : realText(count);
}

// "1 event", "2 events".
export function counted(count, name) {
  return `${countText(count)} ${name}${Number(count) === 1 ? '' : name.endsWith('s') ? 'es' : 's'}`;
}

export function realText(value) {
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e15 || size < 1e-3)) return value.toExponential(3);
  return grouped.format(Number(value.toPrecision(size >= 1000 ? Math.ceil(Math.log10(size)) + 1 : 4)));
}

const kTimeUnits = [
  [1e9, 's'],
  [1e6, 'ms'],
  [1e3, 'µs'],
  [1, 'ns'],
];

// "1.25 ms": three digits, or as many as are needed to tell `step` apart.
export function timeText(ns, step = 0) {
  const size = Math.abs(ns);
  const [unit, name] = kTimeUnits.find(([each]) => size >= each) ?? kTimeUnits[3];
  const digits = step > 0 ? Math.max(0, Math.ceil(Math.log10(unit / step) - 1e-9)) : undefined;
  if (size === 0) return '0';
  return `${digits === undefined ? Number((ns / unit).toPrecision(3)) : (ns / unit).toFixed(digits)} ${name}`;
}

// Of clocks that do not count nanoseconds: a number.
export function tickText(ticks) {
  return countText(Math.round(ticks));
}

// As `landtrace report` shows it, with all nine digits. `base` is a BigInt: doubles do not have that many.
export function secondsText(base, ns) {
  const whole = base + BigInt(Math.round(ns));
  return `${whole / 1000000000n}.${String(whole % 1000000000n).padStart(9, '0')}`;
}

const strict = new TextDecoder('utf-8', { fatal: true });

// UTF-8; where it is not, the bytes from 0x80 on as \xNN.
export function decodeText(bytes) {
  try {
    return strict.decode(bytes);
  } catch {
    return Array.from(bytes, (b) => (b < 0x80 ? String.fromCharCode(b) : hexByte(b))).join('');
  }
}

function hexByte(b) {
  return `\\x${b.toString(16).padStart(2, '0')}`;
}

// Controls, and what changes the direction or the place of other text, would mislead.
const misleading =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

export function visibleText(text) {
  return text.replace(misleading, (c) => {
    const code = c.codePointAt(0);
    if (code === 10) return '\\n';
    if (code === 9) return '\\t';
    return code < 0x100 ? hexByte(code) : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

// Powers of ten, and twice and five times those: the first that is at least `least`.
export function roundStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((each) => each * power).find((each) => each >= least * (1 - 1e-9));
}
