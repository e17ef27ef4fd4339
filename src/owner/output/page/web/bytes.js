// Reads the numbers of the page's data (column.hpp has their layout).

import { decodeText } from './text.js';

// What is 2n for n >= 0 and -2n-1 for n < 0. No shifts: those are of 32 bits.
function unzigzag(value) {
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}

export function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let i = 0; i < bytes.length; ++i) bytes[i] = characters.charCodeAt(i);
  return bytes;
}

const kEqual = 0;
const kPlain = 1;
const kDifferences = 2;
const kRaw = 3;
const kDoubles = 4;
const kSomeMissing = 16;

// Without a sign, what was written as negative is a number from 2 ** 63 on.
function widened(exact, values, isUnsigned) {
  exact.forEach((value, i) => (values[i] = Number(isUnsigned ? BigInt.asUintN(64, value) : value)));
  return { values, exact };
}

export class Bytes {
  constructor(bytes) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = 0;
  }

  get isAtEnd() {
    return this.at >= this.bytes.length;
  }

  byte() {
    if (this.isAtEnd) throw new RangeError('the data end too early');
    return this.bytes[this.at++];
  }

  varint() {
    let byte = this.byte();
    if (byte < 128) return byte;
    let value = byte & 127;
    for (let factor = 128; byte >= 128; factor *= 128) {
      byte = this.byte();
      value += (byte & 127) * factor;
    }
    return value;
  }

  text() {
    const length = this.varint();
    this.at += length;
    if (this.at > this.bytes.length) throw new RangeError('the data end too early');
    return decodeText(this.bytes.subarray(this.at - length, this.at));
  }

  // {values: doubles, NaN where one is missing; exact: their 64 bits as numbers with a sign, where doubles are not exact}
  column(count, isUnsigned = false) {
    const mode = this.byte();
    const missing = mode & kSomeMissing ? this.#skip(Math.ceil(count / 8)) : null;
    const column = this.#values(mode & ~kSomeMissing, count, isUnsigned);
    for (let i = 0; missing && i < count; ++i) {
      if ((missing[i >> 3] >> (i & 7)) & 1) column.values[i] = NaN;
    }
    return column;
  }

  #skip(length) {
    this.at += length;
    if (this.at > this.bytes.length) throw new RangeError('the data end too early');
    return this.bytes.subarray(this.at - length, this.at);
  }

  #values(mode, count, isUnsigned) {
    const values = new Float64Array(count);
    if (mode === kRaw) return widened(this.#raw(count), values, isUnsigned);
    if (mode === kEqual) {
      values.fill(unzigzag(this.varint()));
    } else if (mode === kPlain) {
      for (let i = 0; i < count; ++i) values[i] = unzigzag(this.varint());
    } else if (mode === kDifferences) {
      for (let i = 0, value = 0; i < count; ++i) values[i] = value += unzigzag(this.varint());
    } else if (mode === kDoubles) {
      const begin = this.at;
      this.#skip(8 * count);
      for (let i = 0; i < count; ++i) values[i] = this.view.getFloat64(begin + 8 * i, true);
    } else {
      throw new RangeError(`a column of the unknown kind ${mode}`);
    }
    if (!isUnsigned || values.every((value) => value >= 0)) return { values, exact: null };
    return widened(BigInt64Array.from(values, BigInt), values, isUnsigned);
  }

  #raw(count) {
    const begin = this.at;
    this.#skip(8 * count);
    return BigInt64Array.from({ length: count }, (_, i) => this.view.getBigInt64(begin + 8 * i, true));
  }
}
