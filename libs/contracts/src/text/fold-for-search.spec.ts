import { expect, it } from 'vitest';
import { foldForSearch } from './fold-for-search.ts';

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
