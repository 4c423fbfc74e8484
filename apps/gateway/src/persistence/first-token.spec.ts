import { inProcessBus } from '@bunting/bus';
import { openDatabase } from '@bunting/database';
import { startTelling } from '@bunting/outbox';
import { describe, expect, it } from '@jest/globals';
import { freshGatewayDatabase } from '../../test/started-gateway.ts';
import { ensureAdminToken } from './first-token.ts';
import { gatewayEntities, gatewaySteps } from './tables.ts';
import { openTokenHasher } from './token-key.ts';
import { tokenRepository } from './token-repository.ts';

describe('the first admin token', () => {
  it.each([undefined, 'a-token-of-my-own'])(
    'is made once, however many replicas start at the same moment: %p',
    async (given) => {
      const { url, drop } = await freshGatewayDatabase();
      const database = await openDatabase({
        url,
        name: 'test',
        steps: gatewaySteps,
        entities: gatewayEntities,
        poolSize: 20,
      });
      const { work, relay } = startTelling({
        producer: 'gateway',
        database,
        bus: inProcessBus(),
        intervalMs: 200,
        retentionHours: 1,
        warn: () => undefined,
      });
      try {
        const hashers = await Promise.all(Array.from({ length: 12 }, () => openTokenHasher(database, undefined)));
        const made = await Promise.all(hashers.map((hasher) => ensureAdminToken(work, hasher, given)));
        const stored = await database.read({ name: 'all-tokens', text: 'select hash from api_token' });
        expect(stored).toHaveLength(1);
        const [token = given ?? ''] = made.filter((one) => one !== undefined);
        expect(made.filter((one) => one !== undefined)).toHaveLength(given === undefined ? 1 : 0);
        for (const hasher of hashers) expect(await tokenRepository(database).find(hasher(token))).toBeDefined();
      } finally {
        await relay.stop();
        await database.close();
        await drop();
      }
    },
  );
});
