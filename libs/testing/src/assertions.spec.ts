import { expect, it } from 'vitest';
import { eventually, leastOf } from './assertions.ts';

it('eventually returns the result of the assertion as soon as it holds', async () => {
  let attempts = 0;
  const third = (): number => {
    attempts += 1;
    expect(attempts).toBe(3);
    return attempts;
  };
  expect(await eventually(third)).toBe(3);
  expect(await eventually(() => Promise.resolve('immediately'))).toBe('immediately');
});

it('eventually fails with the error of the last attempt after its timeout', async () => {
  let attempts = 0;
  const never = (): Promise<never> => Promise.reject(new Error(`attempt ${(attempts += 1)}`));
  const failure: unknown = await eventually(never, { timeoutMs: 50 }).catch((error: unknown) => error);
  expect(failure).toEqual(new Error(`attempt ${attempts}`));
  expect(attempts).toBeGreaterThan(1);
});

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
