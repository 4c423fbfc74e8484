import { createHash } from 'node:crypto';

// Meilisearch compares strings without regard to case and to how Unicode composes them, trims them, and keeps 468 bytes of
// each. Interface 4.5 does neither: text is written so that none of that can change it.

/** How many characters of an encoded text the index keeps for sure. */
export const longestEncoded = 400;

const unchanged = /[a-z0-9-]/;

const tokensOf = (text: string): string[] =>
  Array.from(text.toWellFormed(), (character) =>
    unchanged.test(character) && character.length === 1
      ? character
      : Array.from(Buffer.from(character), (byte) => `_${byte.toString(16).padStart(2, '0')}`).join(''),
  );

/** Text in lower-case letters, digits, `-` and `_`. A text begins with another exactly when their encodings do. */
export const encoded = (text: string): string => tokensOf(text).join('');

/** Text as a value that is equal to no other, however long the text. */
export const keyOf = (text: string): string => {
  const key = encoded(text);
  return key.length <= longestEncoded ? key : `__${createHash('sha256').update(text).digest('hex')}`;
};

/** What a folded text ends with, from each of its characters on: it contains another when one of these begins with it. */
export const suffixesOf = (text: string): string[] => {
  const tokens = tokensOf(text);
  return tokens.map((_, from) => tokens.slice(from).join('').slice(0, longestEncoded));
};

/** Text as digits that sort as PostgreSQL sorts the text: byte by byte. */
export const sortable = (text: string): string => Buffer.from(text).toString('hex');

/** A document's id, of which a name can be read again. */
export const idOf = sortable;

/** The name that the id is of; undefined when it is none of ours. */
export const nameOf = (id: unknown): string | undefined => {
  if (typeof id !== 'string') return undefined;
  const name = Buffer.from(id, 'hex').toString();
  return idOf(name) === id ? name : undefined;
};

/** A value within a filter. No character of it can end it. */
export const quoted = (value: string | number): string => JSON.stringify(String(value));

const momentDigits = 20;
const momentOrigin = 10n ** 19n;

/** Microseconds as digits of one length, which sort as the moments do, or the other way round. */
export const sortableMoment = (micros: string, direction: 'rising' | 'falling'): string => {
  const moment = BigInt(micros);
  return (direction === 'rising' ? momentOrigin + moment : momentOrigin - moment)
    .toString()
    .padStart(momentDigits, '0');
};
