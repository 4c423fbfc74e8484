import type { Reach } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { reachWords } from './reach-words.ts';

describe('what a flag does in an environment', () => {
  const words = (reach: Partial<Reach>) =>
    reachWords({ extent: 'partial', rules: 1, variants: 0, ...reach }, (id) => `segment-${id}`);

  it.each<[string, Partial<Reach>]>([
    ['off', { extent: 'off', share: 25 }],
    ['100 %', { extent: 'all', share: 100, rules: 3 }],
    ['0 %', { extent: 'none', rules: 2 }],
    ['25 %', { share: 25 }],
    ['3 rules', { rules: 3 }],
    ['segment-4', { share: 100, audience: 'segments', segments: [4] }],
    ['25 % of segment-4, segment-2', { share: 25, audience: 'segments', segments: [4, 2] }],
    ['list', { share: 100, audience: 'list' }],
    ['1 rule', { share: 100, audience: 'conditions' }],
    ['5 % of 1 rule', { share: 5, audience: 'conditions' }],
  ])('is shown in a list as %s', (short, reach) => {
    expect(words(reach).short).toBe(short);
  });

  it.each<[string, Partial<Reach>]>([
    ['off', { extent: 'off', share: 25, audience: 'conditions' }],
    ['0 %', { extent: 'none', share: 0, audience: 'conditions' }],
    ['25 %', { share: 25 }],
    ['3 rules', { rules: 3 }],
    ['1 rule', { share: 100, audience: 'conditions' }],
    ['≤ 5 %', { share: 5, audience: 'conditions' }],
    ['≤ 25 %', { share: 25, audience: 'segments', segments: [4, 2] }],
  ])('is shown in a narrow list as %s, which is never more than it does', (shortest, reach) => {
    expect(words(reach).shortest).toBe(shortest);
  });

  it('is told with its variants, and with what it would do when it is on', () => {
    expect(words({ share: 25, variants: 2 }).long).toBe('on: 25 %, divided into 2 variants');
    expect(words({ extent: 'off', share: 25 }).long).toBe('off; when it is on: 25 %');
  });
});
