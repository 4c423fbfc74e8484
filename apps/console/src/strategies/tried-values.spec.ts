import { expect, it } from 'vitest';
import { withTried } from './tried-values.ts';

it('keeps the values that a person has tried, the newest first and each once', () => {
  const tried = withTried(
    [['region', ['no', 'se']]],
    [
      ['userId', 'ann'],
      ['region', 'se'],
      ['region', ''],
      ['region', 'x'.repeat(101)],
    ],
  );
  expect(tried).toEqual([
    ['userId', ['ann']],
    ['region', ['se', 'no']],
  ]);
});

it('forgets the oldest fields and values beyond fifty fields of eight values', () => {
  const fields = Array.from({ length: 60 }, (_, nth): [string, string] => [`field-${nth}`, 'x']);
  const values = Array.from({ length: 9 }, (_, nth): [string, string] => ['plan', `plan-${nth}`]);
  const tried = withTried([], [...fields, ...values]);
  expect(tried).toHaveLength(50);
  expect(tried.at(0)).toEqual(['field-11', ['x']]);
  expect(tried.at(-1)?.[1]).toEqual([8, 7, 6, 5, 4, 3, 2, 1].map((nth) => `plan-${nth}`));
});
