import { describe, expect, it } from '@jest/globals';
import type { GatewayConfig } from '../config.ts';
import { signInSettings } from './effective-sign-in-settings.ts';

describe('the token of SCIM', () => {
  it('is read once for many requests, and again after a change or a failed read', async () => {
    let reads = 0;
    let isAway = false;
    const settings = signInSettings({
      config: { GATEWAY_TOKEN_CACHE_TTL_MS: 60_000 } as GatewayConfig,
      read: async () => {
        reads++;
        if (isAway) throw new Error('The database is away.');
        return undefined;
      },
      hasher: () => ({ selector: '', hash: Buffer.alloc(32) }),
      warn: () => undefined,
    });
    await Promise.all(Array.from({ length: 100 }, () => settings.readScim()));
    expect(reads).toBe(1);
    settings.invalidate();
    isAway = true;
    await expect(settings.readScim()).rejects.toThrow('The database is away.');
    isAway = false;
    expect(await settings.readScim()).toBeUndefined();
    expect(reads).toBe(3);
  });
});
