import { describe, expect, it } from '@jest/globals';
import { knownTerms } from './known-terms.ts';
import { kinds } from './terms.ts';

describe('The ids of terms that are remembered', () => {
  it('are those of the index that was learnt from last, and of no other', () => {
    const known = knownTerms();
    known.begin('one');
    known.add(kinds.data, 'title', 7);
    known.end('two');
    known.begin('two');
    expect(known.idOf(kinds.data, 'title')).toBe(7);
    expect(known.idOf(kinds.type, 'title')).toBeUndefined();
    known.end('three');
    known.begin('another');
    expect(known.idOf(kinds.data, 'title')).toBeUndefined();
  });

  it('are none of what was begun and never ended', () => {
    const known = knownTerms();
    known.begin('one');
    known.add(kinds.data, 'title', 7);
    known.begin('one');
    expect(known.idOf(kinds.data, 'title')).toBeUndefined();
  });

  it('are bounded: what was not used for long is forgotten, and what was used is not', () => {
    const known = knownTerms(4_000);
    known.begin('one');
    known.add(kinds.data, 'often', 1);
    known.add(kinds.data, 'once', 2);
    for (let nth = 0; nth < 1_000; nth++) {
      known.add(kinds.data, `other ${nth}`, 10 + nth);
      expect(known.idOf(kinds.data, 'often')).toBe(1);
    }
    expect(known.idOf(kinds.data, 'once')).toBeUndefined();
    expect(known.idOf(kinds.data, 'other 999')).toBe(1_009);
  });
});
