import { describe, expect, it } from '@jest/globals';
import { knownMatches } from './known-matches.ts';
import { matchesIn } from './stretches.ts';

const inStretches = (number: number) => {
  const each = Array.from({ length: number }, (_, nth) => nth);
  return matchesIn({ upTo: 1, uid: null, droppedId: 0, stretches: each, counts: each });
};

describe('What is remembered of searches by text', () => {
  it('goes when there is no room, what was used least recently first', () => {
    const known = knownMatches(300);
    known.set('a', inStretches(100));
    known.set('b', inStretches(100));
    known.set('a', inStretches(101));
    known.set('c', inStretches(100));
    expect(['a', 'b', 'c'].map((key) => known.get(key)?.stretches.length)).toEqual([101, undefined, 100]);
  });

  it('is nothing that has more than all the room', () => {
    const known = knownMatches(100);
    known.set('a', inStretches(101));
    expect(known.get('a')).toBeUndefined();
  });

  it('counts texts that match nothing, so that inventing ever new ones fills no memory', () => {
    const known = knownMatches(1000);
    for (let nth = 0; nth < 1000; nth++) known.set(`${nth}${'x'.repeat(80)}`, inStretches(0));
    expect(known.get(`${0}${'x'.repeat(80)}`)).toBeUndefined();
    expect(known.get(`${999}${'x'.repeat(80)}`)).toBeDefined();
  });
});
