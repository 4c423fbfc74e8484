import { expect, it } from '@jest/globals';
import { referencesIn } from './references.ts';

it('finds every text and whole number, wherever it stands, each once', () => {
  const request = [
    { op: 'add', path: '/segments/-', value: 7 },
    { value: { constraints: [{ contextName: 'userId' }] } },
    7,
  ];
  expect(new Set(referencesIn(request).texts)).toEqual(new Set(['add', '/segments/-', 'userId']));
  expect(referencesIn(request).numbers).toEqual([7]);
});

it('leaves out what can be no name and no id', () => {
  expect(referencesIn(['x'.repeat(256), 1.5, 2 ** 31, -(2 ** 40), null, true])).toEqual({ texts: [], numbers: [] });
});

it('takes what is long and what is deep', () => {
  let deep: unknown = 'bottom';
  for (let level = 0; level < 100_000; level++) deep = [deep];
  expect(referencesIn([Array.from({ length: 500_000 }, () => 1), deep])).toEqual({ texts: ['bottom'], numbers: [1] });
});
