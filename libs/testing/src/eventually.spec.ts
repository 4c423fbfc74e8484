import { expect, it } from 'vitest';
import { eventually } from './assertions.ts';

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
