import { inProcessBus } from '@bunting/bus';
import { openDatabase } from '@bunting/database';
import { startTelling } from '@bunting/outbox';
import { describe, expect, it } from '@jest/globals';
import { freshGatewayDatabase, startGateway } from '../../test/started-gateway.ts';
import { ensureFirstTokens } from './first-token.ts';
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
        const made = await Promise.all(
          hashers.map((hasher) => ensureFirstTokens(work, hasher, { always: given, first: [] })),
        );
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

  it('is not made up where the settings give one; they count at the very first start alone', async () => {
    const first = {
      INIT_ADMIN_API_TOKENS: '*:*.chosen-admin',
      INIT_CLIENT_API_TOKENS: 'default:development.chosen-client',
    };
    const environment = { BUNTING_ADMIN_TOKEN: '', ...first };
    const { url, drop } = await freshGatewayDatabase();
    try {
      const gateway = await startGateway({ databaseUrl: url, environment });
      expect(gateway.firstAdminToken).toBeUndefined();
      const ask = async (key: string) => (await gateway.ask('/api/admin/user', { key })).status;
      expect(await ask('*:*.chosen-admin')).toBe(200);
      expect(await ask('default:development.chosen-client')).toBe(403);
      expect(JSON.stringify(await gateway.told())).not.toContain('chosen');
      await gateway.stop();

      const later = { ...environment, INIT_ADMIN_API_TOKENS: '*:*.chosen-later' };
      const again = await startGateway({ databaseUrl: url, environment: later });
      expect((await again.ask('/api/admin/user', { key: '*:*.chosen-later' })).status).toBe(401);
      expect((await again.ask('/api/admin/user', { key: '*:*.chosen-admin' })).status).toBe(200);
      await again.stop();
    } finally {
      await drop();
    }
  });
});
