import { describe, expect, it } from 'vitest';
import { retryUntilCurrent } from './retry-until-current.ts';

describe('a write that is checked without a lock', () => {
  it('is repeated until no other edit comes between', async () => {
    let attempts = 0;
    const attempt = async () => (++attempts < 3 ? undefined : 'stored');
    expect(await retryUntilCurrent(attempt)).toBe('stored');
    expect(attempts).toBe(3);
  });

  it('is refused if edits keep coming between', async () => {
    await expect(retryUntilCurrent(async () => undefined)).rejects.toMatchObject({
      kind: 'ConflictError',
      message: 'Change request was changed by someone else',
    });
  });

  it('is not repeated if it is refused for another reason', async () => {
    let attempts = 0;
    const attempt = async () => {
      attempts++;
      throw new Error('refused');
    };
    await expect(retryUntilCurrent(attempt)).rejects.toThrow('refused');
    expect(attempts).toBe(1);
  });
});
