import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { beginningsOf, kinds, termsIn } from './terms.ts';

const someText = fc.string({ unit: fc.constantFrom('a', 'b', 'ü', '😀', ' '), maxLength: 60 });

describe('Terms', () => {
  it('are the first letters of a longer text, whatever they are written with', () => {
    fc.assert(
      fc.property(someText, (text) => {
        const letters = Array.from(text);
        const shorter = [28, 18, 12, 8, 6].filter((length) => letters.length > length);
        expect(beginningsOf(text)).toEqual(shorter.map((length) => letters.slice(0, length).join('')));
      }),
      { seed: 3 },
    );
  });

  it('are not the first letters of what was drawn at random: nothing else begins so', () => {
    expect(beginningsOf('9e3779b9-7f4a-4c15-a9e3-779b97f4a7c1')).toEqual([]);
    expect(beginningsOf('2026-11-22')).toEqual(['2026-11-', '2026-1']);
  });

  it('are each letter and each two letters in a row, wherever a text has them', () => {
    fc.assert(
      fc.property(fc.array(someText, { minLength: 1, maxLength: 20 }), (texts) => {
        const events = texts.map((text, nth) => ({
          id: 64 + nth,
          type: 'feature-created',
          project: null,
          feature: null,
          environment: null,
          creator: null,
          day: '2026-01-01',
          text: `feature-created\u001fmia\u001e${text}`,
        }));
        const found = termsIn(events, 64, 64).filter(({ kind }) => kind === kinds.lettersOfData);
        const expected = new Map<string, number[]>();
        for (const [nth, text] of texts.entries()) {
          const letters = Array.from(text);
          const all = letters.flatMap((letter, at) => [letter, ...(at === 0 ? [] : [`${letters[at - 1]}${letter}`])]);
          for (const each of new Set(all)) expected.set(each, [...(expected.get(each) ?? []), nth]);
        }
        expect(new Map(found.map(({ text, offsets }) => [text, offsets]))).toEqual(expected);
      }),
      { seed: 4 },
    );
  });
});
