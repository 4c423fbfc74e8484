import { describe, expect, it } from '@jest/globals';
import { knownMatches } from './known-matches.ts';
import { matchesIn } from './matches.ts';

const inWords = (number: number) => {
  const each = Array.from({ length: number }, (_, nth) => nth);
  return matchesIn({ upTo: 1, uid: null, droppedId: 0, words: each, bits: each });
};

describe('What is remembered of searches by text', () => {
  it('goes when there is no room, what was used least recently first', () => {
    const known = knownMatches(300);
    known.set('a', inWords(100));
    known.set('b', inWords(100));
    known.set('a', inWords(101));
    known.set('c', inWords(100));
    expect(['a', 'b', 'c'].map((key) => known.get(key)?.words.length)).toEqual([101, undefined, 100]);
  });

  it('is nothing that has more than all the room', () => {
    const known = knownMatches(100);
    known.set('a', inWords(101));
    expect(known.get('a')).toBeUndefined();
  });

  it('counts texts that match nothing, so that inventing ever new ones fills no memory', () => {
    const known = knownMatches(1000);
    for (let nth = 0; nth < 1000; nth++) known.set(`${nth}${'x'.repeat(80)}`, inWords(0));
    expect(known.get(`${0}${'x'.repeat(80)}`)).toBeUndefined();
    expect(known.get(`${999}${'x'.repeat(80)}`)).toBeDefined();
  });
});
