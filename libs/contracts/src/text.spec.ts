import { describe, expect, it } from 'vitest';
import { Refusal } from './errors.ts';
import { foldForSearch, maxDepth, mayHoldUnstorableText, requireStorableText } from './text.ts';

it.each([
  ['upper and lower case', 'CHECKOUT-v2', 'checkout-V2'],
  ['upper and lower case beyond ASCII', 'Straße ÅNGSTRÖM', 'straße ångström'],
  ['the final sigma and others', 'ΟΔΟΣ', 'οδοσ'],
  ['composed and decomposed characters', 'CAFÉ', 'cafe\u0301'],
  ['characters of which only the lower case has a composed form', 'J\u030c', '\u01f0'],
  ['control characters and blanks', 'one\ttwo\u0000three\u001ffour', 'one two three four'],
  ['a lone surrogate and the replacement character', 'a\ud800b', 'a\ufffdb'],
])('a search takes %s for the same', (_difference, one, other) => {
  expect(foldForSearch(one)).toBe(foldForSearch(other));
});

it.each([
  ['a letter and the same with an accent', 'cafe', 'café'],
  ['the sharp s and two s', 'straße', 'strasse'],
  ['one blank and two', 'a b', 'a  b'],
])('a search distinguishes %s', (_difference, one, other) => {
  expect(foldForSearch(one)).not.toBe(foldForSearch(other));
});

it.each(['Αθήνας ΟΔΟΣ', 'J\u030c', 'İstanbul', 'a\ud800b\u0085'])('text that is folded already stays: %j', (text) => {
  expect(foldForSearch(foldForSearch(text))).toBe(foldForSearch(text));
});

const pathOfRefusal = (send: () => void): string | undefined => {
  try {
    send();
  } catch (error) {
    if (error instanceof Refusal) return error.details[0]?.path;
    throw error;
  }
  return 'was not refused';
};

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

describe('text that is to be stored', () => {
  it('may contain every Unicode character', () => {
    expect(() => requireStorableText({ title: 'Wär’ 🎉 \u001f\n', list: ['𝒳', 7, null, true] }, '/body')).not.toThrow();
  });

  it('may not contain NUL, and the property is named', () => {
    expect(pathOfRefusal(() => requireStorableText({ a: [{ title: 'x\0y' }] }, '/body'))).toBe('/body/a/0/title');
  });

  it.each(['\ud800', '\udfff', 'a\udc00b', '\ude00\ud83d'])(
    'may not contain a lone surrogate, and the property is named (%#)',
    (text) => {
      expect(pathOfRefusal(() => requireStorableText({ title: text }, '/body'))).toBe('/body/title');
    },
  );

  it('may contain neither in the name of a property', () => {
    expect(pathOfRefusal(() => requireStorableText({ parameters: { 'a\0': 'x' } }, '/body'))).toBe('/body/parameters');
  });
});

describe('JSON that could hold unstorable text', () => {
  it.each([String.raw`{"a":"\u0000"}`, String.raw`{"a":"\ud83d"}`, String.raw`{"a":"\uDC00"}`, String.raw`["\udfff"]`])(
    'is detected by its escapes, before it is parsed: %s',
    (json) => {
      expect(mayHoldUnstorableText(json)).toBe(true);
    },
  );

  it('is not detected in usual requests', () => {
    expect(mayHoldUnstorableText(String.raw`{"a":"\u00e9\n\"","b":"🎉"}`)).toBe(false);
  });
});

describe('a value that is nested deeply', () => {
  it('is refused one level above the limit, at that level', () => {
    expect(() => requireStorableText(JSON.parse(nested(maxDepth)), '/body')).not.toThrow();
    expect(pathOfRefusal(() => requireStorableText(JSON.parse(nested(maxDepth + 1)), '/body'))).toMatch(/^\/body\/0/);
  });
});
