import { expect, it } from 'vitest';
import { leastOf } from './assertions.ts';

it('the smallest value of a schema has its required properties only, with the first and shortest of each', () => {
  const properties = {
    name: { type: 'string' },
    kind: { enum: ['one', 'two'] },
    count: { type: 'integer', minimum: 3 },
    items: { type: 'array', minItems: 1, items: { type: 'boolean' } },
    optional: { type: 'string' },
  };
  const required = ['name', 'kind', 'count', 'items'];
  expect(leastOf({ type: 'object', properties, required })).toEqual({
    name: 'x',
    kind: 'one',
    count: 3,
    items: [true],
  });
});
