// What is searched for: words, all of which must fit. `text` is looked for in the names of event and thread and in all
// fields that are text; `name=value`, `!=`, `<`, `<=`, `>`, `>=` and `name~text` look at one: a field, or event, comm,
// pid, tid, cpu, time.

import { ValueKind } from './trace.js';

const kCondition = /^([\w.:\[\]]+)(!=|>=|<=|=|<|>|~)(.*)$/u;

// "a b" is one word in quotes.
function wordsOf(text) {
  return Array.from(text.matchAll(/(?:"([^"]*)"|[^\s"])+/gu), ([word]) => word.replaceAll('"', ''));
}

const compare = {
  '=': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
};

// A 1 for each text that fits.
function fittingTexts(trace, fits) {
  return Uint8Array.from(trace.strings, (text, number) => (number > 0 && fits(text) ? 1 : 0));
}

function textFits(operator, wanted) {
  const lower = wanted.toLowerCase();
  if (operator === '~') return (text) => text.toLowerCase().includes(lower);
  return (text) => compare[operator](text, wanted);
}

function testOfField(trace, field, operator, wanted) {
  const { values, exact, kind } = field;
  if (kind === ValueKind.text) {
    const fitting = fittingTexts(trace, textFits(operator, wanted));
    return (row) => fitting[values[row]] === 1;
  }
  if (operator === '~') return (row) => String(trace.valueText(field, row)).includes(wanted);
  const number = { true: 1, false: 0 }[wanted] ?? (wanted === '' ? NaN : Number(wanted));
  if (Number.isNaN(number)) return null;
  if (exact && /^(-?\d+|0x[\da-f]+)$/iu.test(wanted)) {
    const whole = BigInt(wanted);
    const widened = kind === ValueKind.signed ? (each) => each : (each) => BigInt.asUintN(64, each);
    return (row) => !Number.isNaN(values[row]) && compare[operator](widened(exact[row]), whole);
  }
  return (row) => !Number.isNaN(values[row]) && compare[operator](values[row], number);
}

// Of what every event has.
function testOfHead(trace, name, operator, wanted) {
  const fits = textFits(operator, wanted);
  if (name === 'event') {
    const types = trace.types.map(({ name: own, fullName }) => fits(own) || (operator !== '!=' && fits(fullName)));
    return (event) => types[trace.type[event]];
  }
  if (name === 'comm') {
    const threads = trace.threads.map((thread) => fits(thread.name));
    return (event) => threads[trace.thread[event]];
  }
  const number = Number(wanted);
  if (operator === '~' || wanted === '' || Number.isNaN(number)) return null;
  const compared = compare[operator];
  if (name === 'pid') return (event) => compared(trace.threads[trace.thread[event]].pid, number);
  if (name === 'tid') return (event) => compared(trace.threads[trace.thread[event]].tid, number);
  if (name === 'cpu') return (event) => compared(trace.cpu[event], number);
  const time = trace.isInSeconds ? number * 1e9 - Number(trace.base) : number - Number(trace.base);
  return (event) => compared(trace.time[event], time);
}

const kHeads = ['event', 'comm', 'pid', 'tid', 'cpu', 'time'];

function conditionTest(trace, [, name, operator, wanted]) {
  const tests = trace.types.map((type) => {
    const field = type.fields.find((each) => each.name === name);
    return field ? testOfField(trace, field, operator, wanted) : undefined;
  });
  if (tests.some((test) => test !== undefined)) {
    if (tests.every((test) => !test)) return { mistake: `'${wanted}' is no value of ${name}` };
    return { test: (event) => Boolean(tests[trace.type[event]]?.(trace.row[event])) };
  }
  if (!kHeads.includes(name)) return { mistake: `no event has a field '${name}'` };
  const test = testOfHead(trace, name, operator, wanted);
  return test ? { test } : { mistake: `'${wanted}' is no value of ${name}` };
}

function wordTest(trace, word) {
  const fits = textFits('~', word);
  const types = trace.types.map(({ fullName }) => fits(fullName));
  const threads = trace.threads.map(({ name }) => fits(name));
  const texts = fittingTexts(trace, fits);
  const columns = trace.types.map(({ fields }) =>
    fields.filter(({ kind }) => kind === ValueKind.text).map(({ values }) => values),
  );
  return {
    test: (event) => {
      const type = trace.type[event];
      if (types[type] || threads[trace.thread[event]]) return true;
      const row = trace.row[event];
      return columns[type].some((values) => texts[values[row]] === 1);
    },
  };
}

// {hits: events, in the order of time} or {mistake: a sentence}; null: nothing is searched for.
export function search(trace, text) {
  const words = wordsOf(text);
  if (words.length === 0) return null;
  const tests = [];
  for (const word of words) {
    const condition = kCondition.exec(word);
    const { test, mistake } = condition ? conditionTest(trace, condition) : wordTest(trace, word);
    if (mistake) return { mistake };
    tests.push(test);
  }
  const hits = new Uint32Array(trace.count);
  let count = 0;
  for (let event = 0; event < trace.count; ++event) {
    if (tests.every((test) => test(event))) hits[count++] = event;
  }
  return { hits: hits.slice(0, count) };
}
