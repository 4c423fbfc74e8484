import { hash } from 'node:crypto';
import { patternOf } from './criteria.ts';

/**
 * What an event is found by. Its texts, those of its data and those of what happened and by whom, are looked up by what they
 * hold. Thousands of them may hold the same: so what they begin with, where that is shorter, and each letter and each two
 * letters in a row are terms of their own, which occur wherever one of those texts does.
 */
export const kinds = {
  data: 0,
  beginningOfData: 1,
  who: 2,
  beginningOfWho: 3,
  lettersOfData: 4,
  lettersOfWho: 5,
  type: 6,
  project: 7,
  feature: 8,
  anyProject: 9,
  environment: 10,
  creator: 11,
  day: 12,
  month: 13,
} as const;
export type Kind = (typeof kinds)[keyof typeof kinds];

/** What a term is known by, however long it is: the first half of a SHA-256, written as a UUID. */
export const digestOf = (kind: Kind, text: string): string => hash('sha256', `${kind}:${text}`, 'hex').slice(0, 32);

/** Where a term occurs in a block: how many events after its first one, in ascending order. */
export interface Term {
  readonly kind: Kind;
  readonly text: string;
  /** the longest beginning of the text that is a term, too: what is found in it is found by it. Empty where there is none. */
  readonly within: string;
  readonly offsets: readonly number[];
}

/** What of an event its terms are made of. */
export interface Termed {
  readonly id: number;
  readonly type: string;
  readonly project: string | null;
  readonly feature: string | null;
  readonly environment: string | null;
  readonly creator: number | null;
  readonly day: string;
  readonly text: string;
}

/** The numbers of letters of beginnings, the longest first. What is indexed relies on them: others ask for another index. */
const lengths = [28, 18, 12, 8, 6] as const;
/** So much of a text has more letters than the longest beginning, however many of them are written with two units. */
const enough = 2 * (lengths[0] + 1);
const hasLettersOfTwoUnits = /[\ud800-\udfff]/;
/** What was drawn at random, as a UUID, begins like nothing else. The index relies on this as well. */
const isDrawn = /^[0-9a-f-]{20,}$/;

/** The beginnings of a text that are terms, of which none is all of it: the longest first. */
export const beginningsOf = (text: string): string[] => {
  if (isDrawn.test(text)) return [];
  const some = text.slice(0, enough);
  const letters = hasLettersOfTwoUnits.test(some) ? Array.from(some) : undefined;
  return lengths
    .filter((length) => (letters ?? some).length > length)
    .map((length) => letters?.slice(0, length).join('') ?? some.slice(0, length));
};

/** Terms, by what identifies each of them, or by what is true of them: a condition in which `?` stands for each value. */
export type TermsAsked =
  | { readonly digests: readonly string[] }
  | { readonly of: 'text' | 'days'; readonly condition: string; readonly values: readonly unknown[] };

const monthOf = (day: string): string => day.slice(0, 7);

/** The terms of the days from one to another one, both included: whole months between them, and the days of the first month and of the last. */
export const termsOfDays = (first: string, last: string): TermsAsked => {
  if (first > last) return { digests: [] };
  const [from, to] = [monthOf(first), monthOf(last)];
  const days = from === to ? [first, last, first, last] : [first, `${from}-31`, `${to}-01`, last];
  const isBetween = 'text collate "C" between ? and ?';
  return {
    of: 'days',
    condition: `(kind = ${kinds.day} and (${isBetween} or ${isBetween})
      or kind = ${kinds.month} and text collate "C" > ? and text collate "C" < ?)`,
    values: [...days, from, to],
  };
};

/** Of a longer text than twice as many letters, the index compares so many at both ends: it looks up each three of them. */
const compared = 6;

/** The terms that hold a folded text; without those of which a shorter one says it already. */
export const termsHolding = (text: string, where: 'anywhere' | 'data'): TermsAsked => {
  const letters = Array.from(text);
  if (letters.length <= 2) {
    const wanted = where === 'data' ? [kinds.lettersOfData] : [kinds.lettersOfData, kinds.lettersOfWho];
    return { digests: wanted.map((kind) => digestOf(kind, text)) };
  }
  const ends = [letters.slice(0, compared), letters.slice(-compared)].map((some) => some.join(''));
  const patterns = (letters.length > 2 * compared ? ends : [text]).map(patternOf);
  const ofTexts = `kind < ${where === 'data' ? kinds.who : kinds.lettersOfData}`;
  return {
    of: 'text',
    condition: `${ofTexts} ${patterns.map(() => 'and text like ?').join(' ')} and strpos(text, ?) > 0 and strpos(within, ?) = 0`,
    values: [...patterns, text, text],
  };
};

/** Where any of several terms occurs in a block, a bit for each event. */
interface United {
  readonly bits: Uint32Array;
  /** the last text that was added: most occur more than once in a text */
  last: number;
}

const offsetsIn = (bits: Uint32Array): number[] => {
  const offsets: number[] = [];
  for (let word = 0; word < bits.length; word++) {
    for (let left = bits[word] as number; left !== 0; left &= left - 1) {
      offsets.push(32 * word + 31 - Math.clz32(left & -left));
    }
  }
  return offsets;
};

const united = (blockLength: number): United => ({ bits: new Uint32Array(Math.ceil(blockLength / 32)), last: -1 });

const add = (to: United, nth: number, offsets: readonly number[]): void => {
  if (to.last === nth) return;
  to.last = nth;
  const { bits } = to;
  for (const offset of offsets) bits[offset >>> 5] = (bits[offset >>> 5] as number) | (1 << (offset & 31));
};

/** Two letters in a row are both in one number, and one letter is there by itself. */
const second = 0x200000;
const lettersOf = (code: number): string =>
  code < second ? String.fromCodePoint(code) : String.fromCodePoint(Math.floor(code / second), code % second);
/** Of letters below this one, as nearly all are, the numbers are small enough for a list. */
const plainBelow = 128;

/** The letters that texts are made of, each and two in a row. */
const uniteLetters = (texts: ReadonlyMap<string, readonly number[]>, blockLength: number): Map<number, United> => {
  const plain: (United | undefined)[] = Array.from({ length: plainBelow * plainBelow });
  const all = new Map<number, United>();
  const made = (code: number): United => {
    const one = united(blockLength);
    all.set(code, one);
    return one;
  };
  const ofLetters = (before: number, code: number): United => {
    if (before < plainBelow && code < plainBelow) return (plain[before * plainBelow + code] ??= united(blockLength));
    return all.get(before * second + code) ?? made(before * second + code);
  };
  let nth = 0;
  for (const [text, offsets] of texts) {
    let before = 0;
    for (let at = 0; at < text.length; at++) {
      const code = text.codePointAt(at) as number;
      if (code > 0xffff) at++;
      add(ofLetters(0, code), nth, offsets);
      if (before !== 0) add(ofLetters(before, code), nth, offsets);
      before = code;
    }
    nth++;
  }
  for (const [code, one] of plain.entries()) {
    if (one !== undefined) all.set(Math.floor(code / plainBelow) * second + (code % plainBelow), one);
  }
  return all;
};

interface KindsOfTexts {
  readonly texts: Kind;
  readonly beginnings: Kind;
  readonly letters: Kind;
}
const ofData: KindsOfTexts = {
  texts: kinds.data,
  beginnings: kinds.beginningOfData,
  letters: kinds.lettersOfData,
};
const ofWho: KindsOfTexts = {
  texts: kinds.who,
  beginnings: kinds.beginningOfWho,
  letters: kinds.lettersOfWho,
};

/** The terms of texts: each of them, what they begin with, and their letters. */
const termsOfTexts = (texts: ReadonlyMap<string, readonly number[]>, of: KindsOfTexts, blockLength: number): Term[] => {
  const beginnings = new Map<string, United & { readonly within: string }>();
  const terms: Term[] = [];
  for (const [text, offsets] of texts) {
    const found = beginningsOf(text);
    for (const [nth, beginning] of found.entries()) {
      let one = beginnings.get(beginning);
      if (one === undefined) {
        one = { ...united(blockLength), within: found[nth + 1] ?? '' };
        beginnings.set(beginning, one);
      }
      add(one, terms.length, offsets);
    }
    terms.push({ kind: of.texts, text, within: found[0] ?? '', offsets });
  }
  for (const [text, { bits, within }] of beginnings)
    terms.push({ kind: of.beginnings, text, within, offsets: offsetsIn(bits) });
  for (const [code, { bits }] of uniteLetters(texts, blockLength))
    terms.push({ kind: of.letters, text: lettersOf(code), within: '', offsets: offsetsIn(bits) });
  return terms;
};

/** The terms of a block of events, each with where it occurs. */
export const termsIn = (events: readonly Termed[], first: number, blockLength: number): Term[] => {
  const known = Object.fromEntries(Object.values(kinds).map((kind) => [kind, new Map<string, number[]>()])) as Record<
    Kind,
    Map<string, number[]>
  >;
  for (const { id, type, project, feature, environment, creator, day, text } of events) {
    const offset = id - first;
    const add = (kind: Kind, term: string): void => {
      const offsets = known[kind].get(term);
      if (offsets === undefined) known[kind].set(term, [offset]);
      else if (offsets.at(-1) !== offset) offsets.push(offset);
    };
    const whoEnds = text.indexOf('\u001e');
    if (whoEnds >= 0) for (const who of text.slice(0, whoEnds).split('\u001f')) add(kinds.who, who);
    for (const part of text.slice(whoEnds + 1).split('\u001f')) add(kinds.data, part);
    add(kinds.type, type);
    add(kinds.day, day);
    add(kinds.month, monthOf(day));
    if (feature !== null) add(kinds.feature, feature);
    if (environment !== null) add(kinds.environment, environment);
    if (creator !== null) add(kinds.creator, String(creator));
    if (project === null) continue;
    add(kinds.project, project);
    add(kinds.anyProject, '');
  }
  const { [kinds.data]: data, [kinds.who]: who, ...others } = known;
  return [
    ...termsOfTexts(data, ofData, blockLength),
    ...termsOfTexts(who, ofWho, blockLength),
    ...Object.entries(others).flatMap(([kind, terms]) =>
      Array.from(terms, ([text, offsets]) => ({ kind: Number(kind) as Kind, text, within: '', offsets })),
    ),
  ];
};
