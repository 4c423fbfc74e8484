import { type Bus, natsBus, serve } from '@bunting/bus';
import type { CreatedPat, User } from '@bunting/contracts';
import { eventually, type FreshDatabase, startNats, type TestNats } from '@bunting/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessApi, fakeProjectEndpoints } from '../../test/access-api.ts';
import { servicesBehind } from '../../test/services-behind.ts';
import { adminToken, freshGatewayDatabase, type StartedGateway, startGateway } from '../../test/started-gateway.ts';

const featurePath = '/api/admin/projects/default/features/one';

let nats: TestNats;
let database: FreshDatabase;
let behind: Bus;
/** the gateway through which keys are revoked */
let one: StartedGateway;
/** another gateway on the same database, on which revoked keys must stop working, too */
let other: StartedGateway;

const { send, done, aUser, aPat } = accessApi(() => one);

const statusAt = async (gateway: StartedGateway, key: string): Promise<number> => {
  const response = await gateway.send(featurePath, { key });
  await response.arrayBuffer();
  return response.status;
};
const statusesOf = (key: string): Promise<number[]> =>
  Promise.all([one, other].map((gateway) => statusAt(gateway, key)));

/** Two keys of one user: one of them deletes the other. */
const aPersonalKey = async () => {
  const { id, key } = await aUser();
  const pat = await aPat(key);
  return { id, key, pat };
};

const ways: readonly [how: string, make: () => Promise<{ key: string; takeAway: () => Promise<unknown> }>][] = [
  [
    'an admin token that is deleted',
    async () => {
      const { secret } = await done<{ secret: string }>('POST', 'api-tokens', { tokenName: 'a', type: 'admin' });
      return { key: secret, takeAway: () => done('DELETE', `api-tokens/${encodeURIComponent(secret)}`) };
    },
  ],
  [
    'a personal access token that its owner deletes',
    async () => {
      const { key, pat } = await aPersonalKey();
      return { key: pat.secret, takeAway: () => done('DELETE', `user/tokens/${pat.id}`, undefined, key) };
    },
  ],
  [
    'the key of a user who is deleted',
    async () => {
      const { id, pat } = await aPersonalKey();
      return { key: pat.secret, takeAway: () => done('DELETE', `user-admin/${id}`) };
    },
  ],
  [
    'the key of a service account',
    async () => {
      const body = { username: 'robot', name: 'robot', rootRole: 3 };
      const { id } = await done<User>('POST', 'service-account', body);
      const token = await done<CreatedPat>('POST', `service-account/${id}/token`, { description: 'its key' });
      return { key: token.secret, takeAway: () => done('DELETE', `service-account/${id}/token/${token.id}`) };
    },
  ],
];

beforeAll(async () => {
  [nats, database] = await Promise.all([startNats(), freshGatewayDatabase()]);
  behind = await natsBus({ url: nats.url, name: 'behind', callerKeys: nats.callerKeys });
  await serve(behind, [...servicesBehind().endpoints, ...fakeProjectEndpoints(['default'])]);
  const start = () =>
    startGateway({
      databaseUrl: database.url,
      // The default: a replica caches tokens until an event invalidates them.
      environment: { ...nats.settings, GATEWAY_TOKEN_CACHE_TTL_MS: '2000' },
    });
  one = await start();
  other = await start();
});
afterAll(async () => {
  await Promise.all([one?.stop(), other?.stop()]);
  await behind?.close();
  await nats?.stop();
  await database?.drop();
});

describe('while the message bus is away', () => {
  const keys = new Map<string, { key: string; takeAway: () => Promise<unknown> }>();
  const expiring = `user:${'e'.repeat(64)}`;
  let editor: Awaited<ReturnType<typeof aUser>>;

  beforeAll(async () => {
    for (const [how, make] of ways) keys.set(how, await make());
    editor = await aUser(2);
    for (const { key } of [...keys.values(), editor]) expect(await statusesOf(key)).toEqual([200, 200]);
    await nats.kill();
    // Callers with valid tokens get 503 for the missing service; others get 401 and learn nothing of it.
    await eventually(async () => expect(await statusesOf(adminToken)).toEqual([503, 503]));
    expect(await statusesOf('an unknown key')).toEqual([401, 401]);
    // Long enough to be in use before.
    await one.givenToken({ token: expiring, expiresAt: new Date(Date.now() + 10_000) });
    expect(await statusesOf(expiring)).toEqual([503, 503]);
  });

  it.each(ways.map(([how]) => how))('%s is rejected by this replica immediately and by others soon', async (how) => {
    const { key, takeAway } = keys.get(how) as { key: string; takeAway: () => Promise<unknown> };
    expect(await statusesOf(key)).toEqual([503, 503]);
    await takeAway();
    expect(await statusAt(one, key)).toBe(401);
    await eventually(async () => expect(await statusAt(other, key)).toBe(401));
  });

  it('every replica applies the removal of a role', async () => {
    const create = (gateway: StartedGateway) =>
      gateway
        .send('/api/admin/segments', {
          method: 'POST',
          key: editor.key,
          headers: { 'content-type': 'application/json' },
        })
        .then(({ status }) => status);
    expect(await Promise.all([one, other].map(create))).toEqual([400, 400]);
    await done('PUT', `user-admin/${editor.id}`, { rootRole: 3 });
    expect(await create(one)).toBe(403);
    await eventually(async () => expect(await create(other)).toBe(403));
  });

  it('a token that expires while in use is rejected from then on', async () => {
    for (const gateway of [one, other])
      await eventually(async () => expect(await statusAt(gateway, expiring)).toBe(401));
  });

  it('responds 503 with Retry-After for operations of other services', async () => {
    const { status, headers, body } = await send('POST', 'api-tokens', { tokenName: 'b', type: 'client' });
    expect([status, body.name]).toEqual([503, 'ServiceUnavailable']);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('keeps revocations and publishes their events when the bus is back', async () => {
    await nats.restart();
    await eventually(async () => expect(await statusesOf(adminToken)).toEqual([200, 200]));
    for (const { key } of keys.values()) expect(await statusesOf(key)).toEqual([401, 401]);
    const types = (await one.emittedEvents()).map(({ type }) => type);
    for (const type of ['api-token-deleted', 'pat-deleted', 'user-deleted', 'user-updated'])
      expect(types).toContain(type);
  });
});
