import fc from 'fast-check';

const bits = [
  'IS:',
  'IS_NOT:',
  'INCLUDE:',
  'EXCLUDE_ALL:',
  'IS_BEFORE:',
  'environment:',
  'reach:',
  ':enabled',
  'true',
  'asc',
  '1',
  '-1',
  ':',
  ',',
  ' ',
  '\n',
  '\0',
  'a',
  'simple:',
  '%',
  '_',
  '*',
  "'",
  '"',
  '\\',
  '`',
  '$1',
  '{',
  '}',
  '[',
  ']',
  '(',
  ')',
  'AND',
  ' OR ',
  'NOT',
  'STARTS WITH',
  'IN',
  'EXISTS',
  '--',
  ';',
  '\u202e',
  '😀',
  '\ud800',
  'ﬁ',
  'İ',
  'ß',
  '\u0301',
  '__proto__',
  'constructor',
  '2024-01-01',
  '1e400',
  '2.5',
  '9'.repeat(30),
];

/** A text that an attacker might send. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  { weight: 3, arbitrary: fc.array(fc.constantFrom(...bits), { maxLength: 10 }).map((parts) => parts.join('')) },
);

/** A text of an attacker that is valid in a tag, and as the name of a segment or an environment. */
export const hostileName: fc.Arbitrary<string> = hostileText
  .map((text) =>
    text
      .toWellFormed()
      .replaceAll(/[\0-\u001f\u007f\u2028\u2029,]/g, ' ')
      .trim(),
  )
  .filter((text) => text !== '' && text.length <= 50);
