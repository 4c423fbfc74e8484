import fc from 'fast-check';

const bits = [
  'IS:',
  'IS_NOT:',
  'INCLUDE:',
  'EXCLUDE_ALL:',
  'IS_BEFORE:',
  'environment:',
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

/** Text of an attacker. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  { weight: 3, arbitrary: fc.array(fc.constantFrom(...bits), { maxLength: 10 }).map((parts) => parts.join('')) },
);

/** The same, as far as a tag, a name of a segment or of an environment may be made of it. */
export const hostileName: fc.Arbitrary<string> = hostileText
  .map((text) =>
    text
      .toWellFormed()
      .replaceAll(/[\0-\u001f\u007f\u2028\u2029,]/g, ' ')
      .trim(),
  )
  .filter((text) => text !== '' && text.length <= 50);
