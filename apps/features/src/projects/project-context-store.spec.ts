import { expect, it } from 'vitest';
import { possibleReferencesIn } from './project-context-store.ts';

it('collects all texts and integers of a request, at any depth and without duplicates', () => {
  const request = [
    { op: 'add', path: '/segments/-', value: 7 },
    { value: { constraints: [{ contextName: 'userId' }] } },
    7,
  ];
  expect(new Set(possibleReferencesIn(request).texts)).toEqual(new Set(['add', '/segments/-', 'userId']));
  expect(possibleReferencesIn(request).numbers).toEqual([7]);
});

it('leaves out texts and numbers that cannot be names or ids', () => {
  expect(possibleReferencesIn(['x'.repeat(256), 1.5, 2 ** 31, -(2 ** 40), null, true])).toEqual({
    texts: [],
    numbers: [],
  });
});

it('collects references from long and deeply nested requests', () => {
  let deep: unknown = 'bottom';
  for (let level = 0; level < 100_000; level++) deep = [deep];
  expect(possibleReferencesIn([Array.from({ length: 500_000 }, () => 1), deep])).toEqual({
    texts: ['bottom'],
    numbers: [1],
  });
});
