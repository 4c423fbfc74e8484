import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { call, implement, serve, systemContext } from '@bunting/bus';
import { natsBus } from '@bunting/bus/nats';
import { GetFeature, outboxOperations } from '@bunting/contracts';
import { eventually, type FreshDatabase, startNats } from '@bunting/testing';
import { servicesBehind } from '../test/access-api.ts';
import {
  adminToken,
  freshGatewayDatabase,
  type StartedGateway,
  startGateway,
  type StartOptions,
} from '../test/started-gateway.ts';

const path = '/api/admin/projects/default/features/one';
const running = new Set<StartedGateway>();
const databases: FreshDatabase[] = [];

const started = async (options: StartOptions = {}): Promise<StartedGateway> => {
  const gateway = await startGateway(options);
  await gateway.behind(servicesBehind().endpoints);
  running.add(gateway);
  return gateway;
};
const stop = async (gateway: StartedGateway) => {
  running.delete(gateway);
  await gateway.stop();
};
const keptDatabase = async (): Promise<string> => {
  const database = await freshGatewayDatabase();
  databases.push(database);
  return database.url;
};
const withoutToken = { BUNTING_ADMIN_TOKEN: '' };

afterEach(() => Promise.all([...running].map(stop)));
afterAll(() => Promise.all(databases.map((database) => database.drop())));

/** Everything that the tables hold, as text. */
const dump = async ({ database }: StartedGateway): Promise<string> => {
  const tables = ['api_token', 'api_user', 'gateway_secret', 'outbox'];
  const rows = await Promise.all(
    tables.map((table) => database.read({ text: `select row_to_json(t)::text as row from ${table} t` })),
  );
  return JSON.stringify(rows);
};

describe('the first start', () => {
  it('creates an admin token and returns it once', async () => {
    const databaseUrl = await keptDatabase();
    const first = await started({ databaseUrl, environment: withoutToken });
    const token = first.firstAdminToken ?? '';
    expect(token).toMatch(/^\*:\*\.[0-9a-f]{76}$/);
    expect((await first.send(path, { key: token })).status).toBe(200);
    await stop(first);
    const second = await started({ databaseUrl, environment: withoutToken });
    expect(second.firstAdminToken).toBeUndefined();
    expect((await second.send(path, { key: token })).status).toBe(200);
  });

  it('creates one token when two replicas start concurrently', async () => {
    const databaseUrl = await keptDatabase();
    const both = await Promise.all([1, 2].map(() => started({ databaseUrl, environment: withoutToken })));
    const tokens = both.flatMap(({ firstAdminToken }) => firstAdminToken ?? []);
    expect(tokens).toHaveLength(1);
    for (const gateway of both) expect((await gateway.send(path, { key: tokens[0] ?? '' })).status).toBe(200);
  });

  it('emits the creation of a token without its secret', async () => {
    const gateway = await started({ environment: withoutToken });
    const emitted = await gateway.emittedEvents();
    expect(emitted).toMatchObject([
      {
        type: 'api-token-created',
        createdBy: 'unleash_system_user',
        createdByUserId: -1337,
        data: { tokenName: 'admin', type: 'admin' },
      },
    ]);
    expect(JSON.stringify(emitted)).not.toContain(gateway.firstAdminToken?.slice(4));
    const page = await call(
      gateway.bus,
      outboxOperations.gateway,
      { body: { topic: 'event', consumer: 'test', after: 0, limit: 10 } },
      systemContext(60_000),
    );
    expect(page.messages.map(({ type }) => type)).toEqual(['api-token-created']);
  });

  it('stores the token neither in the database nor in the log', async () => {
    const gateway = await started({ environment: { ...withoutToken, LOG_LEVEL: 'trace' }, level: 'trace' });
    const secret = (gateway.firstAdminToken ?? '').slice(4);
    for (const key of [gateway.firstAdminToken ?? '', `Bearer ${secret}`]) await gateway.send(path, { key });
    expect(secret).toHaveLength(76);
    for (const text of [await dump(gateway), gateway.logged()]) {
      expect(text.length).toBeGreaterThan(100);
      expect(text).not.toContain(secret.slice(12));
      expect(text).not.toContain(Buffer.from(secret).toString('hex'));
      expect(text).not.toContain(Buffer.from(secret, 'hex').toString('base64'));
    }
  });
});

describe('BUNTING_ADMIN_TOKEN', () => {
  it('is an admin token from then on in any format, and is not returned', async () => {
    const token = 'a-token-of-my-own';
    const gateway = await started({ environment: { BUNTING_ADMIN_TOKEN: token } });
    expect(gateway.firstAdminToken).toBeUndefined();
    expect((await gateway.send(path, { key: token })).status).toBe(200);
    expect(await dump(gateway)).not.toContain(token);
  });

  it('is added to a database that has other tokens, once', async () => {
    const databaseUrl = await keptDatabase();
    const first = await started({ databaseUrl, environment: withoutToken });
    await stop(first);
    for (let times = 0; times < 2; times++) {
      const later = await started({ databaseUrl });
      expect((await later.send(path, { key: adminToken })).status).toBe(200);
      expect((await later.send(path, { key: first.firstAdminToken ?? '' })).status).toBe(200);
      expect(await later.emittedEvents()).toHaveLength(2);
      await stop(later);
    }
  });

  it.each(['short', 'with a blank in it'])(
    'is refused as a setting when it is no token, without its value: %j',
    async (token) => {
      const attempt = startGateway({ databaseUrl: await keptDatabase(), environment: { BUNTING_ADMIN_TOKEN: token } });
      await expect(attempt).rejects.toThrow(/^BUNTING_ADMIN_TOKEN is not valid/);
      await expect(attempt).rejects.not.toThrow(token);
    },
  );
});

describe('the key of the tokens', () => {
  it('is generated and stored where none is set', async () => {
    const databaseUrl = await keptDatabase();
    const environment = { ...withoutToken, GATEWAY_TOKEN_KEY: '' };
    const first = await started({ databaseUrl, environment });
    await stop(first);
    const second = await started({ databaseUrl, environment });
    expect((await second.send(path, { key: first.firstAdminToken ?? '' })).status).toBe(200);
  });

  it('prevents the start of the gateway when it is another one or missing', async () => {
    const databaseUrl = await keptDatabase();
    await stop(await started({ databaseUrl }));
    const other = { GATEWAY_TOKEN_KEY: 'another key of thirty-two characters' };
    await expect(startGateway({ databaseUrl, environment: other })).rejects.toThrow(
      /^GATEWAY_TOKEN_KEY is not the key/,
    );
    await expect(startGateway({ databaseUrl, environment: { GATEWAY_TOKEN_KEY: '' } })).rejects.toThrow(
      /^GATEWAY_TOKEN_KEY is required/,
    );
  });
});

const withoutProjects = implement(outboxOperations.features, async () => ({ head: 0, messages: [] }));

describe('a running gateway', () => {
  it('reports liveness and readiness without a token', async () => {
    const gateway = await started();
    await gateway.behind([withoutProjects]);
    for (const address of ['/health', '/health/live', '/health/ready', '/ready']) {
      const response = await gateway.send(address, { key: null });
      expect([response.status, await response.json()]).toEqual([200, { health: 'GOOD' }]);
    }
  });

  it('stays ready without the bus once it has been ready, and does not become ready without it', async () => {
    const ready = await started();
    const starting = await started();
    await ready.behind([withoutProjects]);
    const readiness = async ({ send }: StartedGateway) => {
      const response = await send('/health/ready', { key: null });
      return [response.status, await response.json()];
    };
    expect(await readiness(ready)).toEqual([200, { health: 'GOOD' }]);
    for (const { bus } of [ready, starting]) await bus.close();
    await eventually(async () =>
      expect(await readiness(ready)).toEqual([200, { health: 'GOOD', unavailable: ['bus'] }]),
    );
    expect(await readiness(starting)).toEqual([503, { health: 'BAD', reason: 'The bus is closed.' }]);
    expect((await starting.send('/health', { key: null })).status).toBe(200);
    const metrics = await (await ready.send('/internal-backstage/prometheus', { key: null })).text();
    expect(metrics).toMatch(/^bunting_gateway_dependency_available\{.*dependency="bus".*\} 0$/m);
    expect(metrics).toMatch(/^bunting_gateway_dependency_available\{.*dependency="database".*\} 1$/m);
  });

  it('becomes ready when project visibility is loaded, and stays ready while features is down', async () => {
    const isReady = async ({ send }: StartedGateway) => (await send('/health/ready', { key: null })).status;
    const gateway = await started();
    expect(await isReady(gateway)).toBe(503);
    expect((await gateway.send('/ready', { key: null })).status).toBe(503);
    const features = await gateway.behind([withoutProjects]);
    expect(await isReady(gateway)).toBe(200);
    await features.stop();
    expect(await isReady(gateway)).toBe(200);
  });

  it('finishes running requests when it is stopped, and accepts no others', async () => {
    const gateway = await startGateway();
    let reached: (() => void) | undefined;
    let release: (() => void) | undefined;
    const inService = new Promise<void>((resolve) => (reached = resolve));
    const held = new Promise<void>((resolve) => (release = resolve));
    await gateway.behind([
      implement(GetFeature, async ({ params }) => {
        reached?.();
        await held;
        return { name: params.featureName };
      }),
    ]);
    const request = gateway.send(path);
    await inService;
    const stopping = gateway.stop();
    await expect(fetch(`${gateway.url}/health`)).rejects.toThrow();
    release?.();
    const response = await request;
    expect([response.status, await response.json()]).toEqual([200, { name: 'one' }]);
    await stopping;
  });

  it('calls services over NATS as within the process', async () => {
    const nats = await startNats();
    const bus = await natsBus({ url: nats.url, name: 'behind', callerKeys: nats.callerKeys });
    const behind = servicesBehind();
    const served = await serve(bus, behind.endpoints);
    const gateway = await startGateway({ environment: nats.settings });
    try {
      const response = await gateway.send(path, { headers: { 'x-request-id': 'over-nats' } });
      expect([response.status, await response.text()]).toEqual([200, '{ "name": "one",  "project": "default" }']);
      expect(behind.received).toMatchObject([{ requestId: 'over-nats', caller: { id: -42, name: 'admin' } }]);
      const stale = await gateway.send('/api/admin/search/features');
      expect(stale.headers.get('bunting-stale')).toBe('120');
      await served.stop();
      const away = await gateway.send(path);
      expect([away.status, away.headers.get('retry-after')]).toEqual([503, '1']);
    } finally {
      await gateway.stop();
      await bus.close();
      await nats.stop();
    }
  });
});
