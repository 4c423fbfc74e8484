import { describe, expect, it } from 'vitest';
import { scimSettingCache } from '../access/scim/scim-setting.ts';

describe('the token of SCIM', () => {
  it('is read once for many requests, and again after a change or a failed read', async () => {
    let reads = 0;
    let isAway = false;
    const setting = scimSettingCache(async () => {
      reads++;
      if (isAway) throw new Error('The database is away.');
      return undefined;
    }, 60_000);
    await Promise.all(Array.from({ length: 100 }, () => setting.read()));
    expect(reads).toBe(1);
    setting.invalidate();
    isAway = true;
    await expect(setting.read()).rejects.toThrow('The database is away.');
    isAway = false;
    expect(await setting.read()).toBeUndefined();
    expect(reads).toBe(3);
  });
});
