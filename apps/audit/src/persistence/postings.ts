/** So many ids, one after the other, are indexed at once; block n begins with the id n × blockLength. */
export const blockLength = 2_048;
const bitmapBytes = blockLength / 8;
/** What occurs at least so often in a block shares a row with these many blocks, and what occurs less often with that many ids. */
const rareBelow = 4;
export const groupLength = 8 * blockLength;
export const rareRange = 1 << 20;

/**
 * Postings are made of units of three bytes, which base64 writes as four letters: so they can be put one after the other, in
 * whatever order, and are read at once. A unit below `rareRange` is an id within a range; the others begin something.
 */
const unitBytes = 3;
const beginsRange = 0x800000;
const beginsBitmap = 0x900000;
const beginsList = 0xa00000;
const beginsRun = 0xb00000;
const numberOf = 0x0fffff;
const bitmapUnits = Math.ceil(bitmapBytes / unitBytes);
/** In a list: whether another unit follows. Each has two offsets within a block; that of a run has its first one and its last. */
const goesOn = 0x800000;
const offsetMask = blockLength - 1;

/** So many letters at its beginning say of what range a row with an odd number is. */
export const beginLength = 4;

/** Where in a block something occurs: a new row of the number `seq`, of which one that is there takes all but the beginning. */
export interface Posting {
  readonly seq: number;
  readonly data: string;
}

const written = (units: readonly number[]): string => {
  const bytes = Buffer.alloc(units.length * unitBytes);
  for (const [nth, unit] of units.entries()) bytes.writeUIntBE(unit, nth * unitBytes, unitBytes);
  return bytes.toString('base64');
};

const bitmapOf = (offsets: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(bitmapUnits * unitBytes);
  for (const offset of offsets) bytes[offset >> 3] = (bytes[offset >> 3] as number) | (1 << (offset & 7));
  return bytes;
};

/**
 * Writes down in which events of a block something occurs. What is frequent gets a row of its own for some blocks, with a
 * bitmap or a list for each, whichever is shorter, or with a run where it occurs in each from one to another; what is rare is
 * added to a row that holds much of the log.
 */
export const postingOf = (block: number, offsets: readonly number[]): Posting => {
  if (block > numberOf) throw new RangeError(`Block ${block} is beyond what the index of events can hold.`);
  const first = block * blockLength;
  if (offsets.length < rareBelow) {
    const range = Math.floor(first / rareRange);
    return {
      seq: 2 * range + 1,
      data: written([beginsRange | range, ...offsets.map((offset) => (first % rareRange) + offset)]),
    };
  }
  const seq = 2 * Math.floor(first / groupLength);
  const [from, to] = [offsets[0] as number, offsets.at(-1) as number];
  if (to - from + 1 === offsets.length) return { seq, data: written([beginsRun | block, (from << 12) | to]) };
  if (Math.ceil(offsets.length / 2) >= bitmapUnits) {
    return { seq, data: written([beginsBitmap | block]) + bitmapOf(offsets).toString('base64') };
  }
  const units = [beginsList | block];
  for (let nth = 0; nth < offsets.length; nth += 2) {
    const one = offsets[nth] as number;
    units.push((nth + 2 < offsets.length ? goesOn : 0) | (one << 12) | (offsets[nth + 1] ?? one));
  }
  return { seq, data: written(units) };
};

/** A set of ids from 0 up to a bound, a bit for each. */
export type IdSet = Uint32Array;

/** All ids below `bound`. */
export const allIds = (bound: number): IdSet => new Uint32Array(Math.ceil(bound / 32)).fill(0xffffffff);

const add = (ids: IdSet, id: number): void => {
  const word = id >>> 5;
  if (word < ids.length) ids[word] = (ids[word] as number) | (1 << (id & 31));
};

/** Adds all from one id to another one, both of them below the bound. */
const addRun = (ids: IdSet, from: number, to: number): void => {
  const [first, last] = [from >>> 5, to >>> 5];
  const [since, until] = [-1 << (from & 31), -1 >>> (31 - (to & 31))];
  if (first === last) {
    ids[first] = (ids[first] as number) | (since & until);
    return;
  }
  ids[first] = (ids[first] as number) | since;
  ids.fill(-1, first + 1, last);
  ids[last] = (ids[last] as number) | until;
};

/** The ids below `bound`, which begins a block, of rows of postings. */
export const idsIn = (rows: string | null, bound: number): IdSet => {
  const ids = new Uint32Array(Math.ceil(bound / 32));
  const bytes = Buffer.from(rows ?? '', 'base64');
  const unitAt = (at: number): number =>
    ((bytes[at] as number) << 16) | ((bytes[at + 1] as number) << 8) | (bytes[at + 2] as number);
  let first = 0;
  for (let at = 0; at < bytes.length;) {
    const unit = unitAt(at);
    at += unitBytes;
    if (unit < rareRange) {
      add(ids, first + unit);
    } else if (unit < beginsBitmap) {
      first = (unit & numberOf) * rareRange;
    } else if (unit < beginsList) {
      const word = ((unit & numberOf) * blockLength) >>> 5;
      for (let nth = 0; nth < bitmapBytes / 4 && word + nth < ids.length; nth++) {
        ids[word + nth] = (ids[word + nth] as number) | bytes.readUInt32LE(at + 4 * nth);
      }
      at += bitmapUnits * unitBytes;
    } else if (unit >= beginsRun) {
      const begin = (unit & numberOf) * blockLength;
      const ends = unitAt(at);
      at += unitBytes;
      if (begin < bound) addRun(ids, begin + ((ends >>> 12) & offsetMask), begin + (ends & offsetMask));
    } else {
      const begin = (unit & numberOf) * blockLength;
      for (let two = goesOn; (two & goesOn) !== 0; at += unitBytes) {
        two = unitAt(at);
        add(ids, begin + ((two >>> 12) & offsetMask));
        add(ids, begin + (two & offsetMask));
      }
    }
  }
  return ids;
};

/** Adds to the first set what is in the second one, as far as it reaches. */
export const unite = (ids: IdSet, others: IdSet): void => {
  for (let word = 0; word < ids.length; word++) ids[word] = (ids[word] as number) | (others[word] as number);
};

/** Leaves in the first set what is in the second one as well. */
export const intersect = (ids: IdSet, others: IdSet): void => {
  for (let word = 0; word < ids.length; word++) ids[word] = (ids[word] as number) & (others[word] as number);
};

/** Takes out of the first set what is in the second one. */
export const subtract = (ids: IdSet, others: IdSet): void => {
  for (let word = 0; word < ids.length; word++) ids[word] = (ids[word] as number) & ~(others[word] as number);
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
