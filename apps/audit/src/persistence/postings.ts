/** So many ids, one after the other, are indexed at once; block n begins with the id n × blockLength. */
export const blockLength = 2_048;
const bitmapBytes = blockLength / 8;
/** What occurs less often in a block shares one row for this many ids. */
const rareBelow = 8;
export const rareRange = 1 << 20;
const rareBytes = 3;

/** Where in a block something occurs: what is added to its row of the sequence number `seq`. */
export interface Posting {
  readonly seq: number;
  readonly data: Buffer;
}

/**
 * Writes down in which events of a block something occurs. What is frequent gets a row of its own for the block, as a list
 * of two bytes each or as a bitmap, whichever is shorter; what is rare is added to a row that holds much of the log.
 */
export const postingOf = (block: number, offsets: readonly number[]): Posting => {
  if (offsets.length < rareBelow) {
    const first = block * blockLength;
    const data = Buffer.alloc(offsets.length * rareBytes);
    for (const [nth, offset] of offsets.entries())
      data.writeUIntBE((first % rareRange) + offset, nth * rareBytes, rareBytes);
    return { seq: -1 - Math.floor(first / rareRange), data };
  }
  if (offsets.length * 2 < bitmapBytes) {
    const data = Buffer.alloc(offsets.length * 2);
    for (const [nth, offset] of offsets.entries()) data.writeUInt16BE(offset, nth * 2);
    return { seq: block, data };
  }
  const data = Buffer.alloc(bitmapBytes);
  for (const offset of offsets) data[offset >> 3] = (data[offset >> 3] as number) | (1 << (offset & 7));
  return { seq: block, data };
};

/** A set of ids from 0 up to a bound, a bit for each. */
export type IdSet = Uint32Array;

const add = (ids: IdSet, id: number): void => {
  const word = id >>> 5;
  if (word < ids.length) ids[word] = (ids[word] as number) | (1 << (id & 31));
};

/** The ids below `bound` of rows of postings, one after the other: sequence number, length, data. */
export const idsIn = (rows: Buffer | null, bound: number): IdSet => {
  const ids = new Uint32Array(Math.ceil(bound / 32));
  for (let at = 0; rows !== null && at < rows.length;) {
    const seq = Number(rows.readBigInt64BE(at));
    const end = at + 12 + rows.readInt32BE(at + 8);
    at += 12;
    if (seq < 0) {
      const first = (-1 - seq) * rareRange;
      for (; at < end; at += rareBytes) add(ids, first + rows.readUIntBE(at, rareBytes));
    } else if (end - at === bitmapBytes) {
      const word = (seq * blockLength) >>> 5;
      for (let nth = 0; nth < bitmapBytes / 4 && word + nth < ids.length; nth++, at += 4) {
        ids[word + nth] = (ids[word + nth] as number) | rows.readUInt32LE(at);
      }
    } else {
      for (; at < end; at += 2) add(ids, seq * blockLength + rows.readUInt16BE(at));
    }
    at = end;
  }
  return ids;
};

/** Leaves in the first set what is in the second one as well. */
export const intersect = (ids: IdSet, others: IdSet): void => {
  for (let word = 0; word < ids.length; word++) ids[word] = (ids[word] as number) & (others[word] as number);
};

/** Takes out the ids up to one, it included. */
export const removeUpTo = (ids: IdSet, id: number): void => {
  const word = (id + 1) >>> 5;
  ids.fill(0, 0, word);
  const rest = (id + 1) & 31;
  if (rest > 0 && word < ids.length) ids[word] = (ids[word] as number) & (-1 << rest);
};

/** How many bits of a word are set. */
export const ones = (word: number): number => {
  let bits = word - ((word >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
};
