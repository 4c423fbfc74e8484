import { inProcessBus, systemTraceparent } from '@bunting/bus';
import { type ApiTokens, systemCaller } from '@bunting/contracts';
import { startOutboxProducer } from '@bunting/outbox';
import { openLog } from '@bunting/runtime';
import { eventually, reservePort } from '@bunting/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  freshGatewayDatabase,
  openGatewayDatabase,
  type StartedGateway,
  startGateway,
} from '../../../test/started-gateway.ts';
import { openSecretHasher } from '../../unit-of-work/secrets.ts';
import { unitOfWork } from '../../unit-of-work/unit-of-work.ts';
import {
  adminTokenAction,
  configuredTokens,
  ensureInitialTokens,
  type StoredConfiguredToken,
} from './initial-tokens.ts';
import { tokenLookup } from './token-store.ts';

const sessionLimits = { idleHours: 1, maxHours: 1 };

describe('the first admin token', () => {
  it.each([undefined, 'a-token-of-my-own'])('is created once by concurrently starting replicas: %j', async (given) => {
    const { database, stop } = await openGatewayDatabase({ poolMax: 20 });
    const outbox = startOutboxProducer({
      producer: 'gateway',
      database,
      bus: inProcessBus(),
      intervalMs: 200,
      retentionHours: 1,
      metrics: undefined,
      log: openLog('silent'),
    });
    try {
      const hashers = await Promise.all(Array.from({ length: 12 }, () => openSecretHasher(database, undefined)));
      const made = await Promise.all(
        hashers.map((hasher) =>
          ensureInitialTokens({
            transaction: unitOfWork(outbox, { hasher, cipher: undefined, sessionLimits }),
            context: { caller: systemCaller, now: new Date(), traceparent: systemTraceparent() },
            tokens: { adminToken: given, initial: [] },
            warn: () => undefined,
          }),
        ),
      );
      const stored = await database.read({ text: 'select hash from api_token' });
      expect(stored).toHaveLength(1);
      const [token = given ?? ''] = made.filter((one) => one !== undefined);
      expect(made.filter((one) => one !== undefined)).toHaveLength(given === undefined ? 1 : 0);
      for (const hasher of hashers) expect(await tokenLookup(database).find(hasher(token))).toBeDefined();
    } finally {
      await outbox.stop();
      await stop();
    }
  });

  it('is listed by its public digits', async () => {
    const gateway = await startGateway({ environment: { BUNTING_ADMIN_TOKEN: '' } });
    const key = gateway.firstAdminToken ?? '';
    const listed = (await (await gateway.send('/api/admin/api-tokens', { key })).json()) as ApiTokens;
    expect(listed.tokens.map(({ secret }) => secret)).toEqual([`${key.slice(0, '*:*.'.length + 12)}...`]);
    await gateway.stop();
  });

  it('is not generated when the settings contain one, which count at the first start only', async () => {
    const first = {
      INIT_ADMIN_API_TOKENS: '*:*.chosen-admin',
      INIT_CLIENT_API_TOKENS: 'default:development.chosen-client',
    };
    const environment = { BUNTING_ADMIN_TOKEN: '', ...first };
    const { url, drop } = await freshGatewayDatabase();
    try {
      const gateway = await startGateway({ databaseUrl: url, environment });
      expect(gateway.firstAdminToken).toBeUndefined();
      const send = async (key: string) => (await gateway.send('/api/admin/user', { key })).status;
      expect(await send('*:*.chosen-admin')).toBe(200);
      expect(await send('default:development.chosen-client')).toBe(403);
      expect(JSON.stringify(await gateway.emittedEvents())).not.toContain('chosen');
      await gateway.stop();

      const later = { ...environment, INIT_ADMIN_API_TOKENS: '*:*.chosen-later' };
      const again = await startGateway({ databaseUrl: url, environment: later });
      expect((await again.send('/api/admin/user', { key: '*:*.chosen-later' })).status).toBe(401);
      expect((await again.send('/api/admin/user', { key: '*:*.chosen-admin' })).status).toBe(200);
      await again.stop();
    } finally {
      await drop();
    }
  });
});

it('until the credentials of the settings are stored, no credential is called invalid: 503, and no earlier one works', async () => {
  const { url: databaseUrl, drop } = await freshGatewayDatabase();
  const earlier = await startGateway({
    databaseUrl,
    environment: { BUNTING_ADMIN_TOKEN: '*:*.the-earlier-value-0001' },
  });
  const port = await reservePort();
  const given = { admin: '*:*.the-new-value-0002', email: 'ada@example.org', password: 'Correct-horse-7' };
  const environment = {
    PORT: String(port),
    BUNTING_ADMIN_TOKEN: given.admin,
    INIT_ADMIN_EMAIL: given.email,
    INIT_ADMIN_PASSWORD: given.password,
  };
  const request = async (path: string, key?: string, body?: object) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      headers: { ...(key === undefined ? {} : { authorization: key }), 'content-type': 'application/json' },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
    await response.arrayBuffer();
    return { status: response.status, retryAfter: response.headers.get('retry-after') };
  };
  const credentials = () =>
    Promise.all([
      request('/api/admin/user', given.admin),
      request('/api/admin/user', '*:*.the-earlier-value-0001'),
      request('/api/client/features', 'default:development.unknown'),
      request('/api/client/streaming', 'default:development.unknown'),
      request('/api/frontend', 'default:development.unknown'),
      request('/ofrep/v1/evaluate/flags', 'default:development.unknown', {}),
      request('/edge/validate', undefined, { tokens: ['default:development.unknown'] }),
      request('/auth/simple/login', undefined, { username: given.email, password: given.password }),
    ]);
  try {
    let starting: Promise<StartedGateway> | undefined;
    // Holds the lock that the start waits for before it stores credentials.
    await earlier.database.transaction(async ({ query }) => {
      await query("select pg_advisory_xact_lock(hashtext('first admin token'))");
      starting = startGateway({ databaseUrl, environment });
      await eventually(async () => expect((await request('/health')).status).toBe(200));
      for (const answer of await credentials()) expect(answer).toEqual({ status: 503, retryAfter: '1' });
    });
    const gateway = await (starting as unknown as Promise<StartedGateway>);
    expect((await credentials()).map(({ status }) => status)).toEqual([200, 401, 401, 401, 401, 401, 200, 200]);
    await gateway.stop();
  } finally {
    await earlier.stop();
    await drop();
  }
});

describe('another value of BUNTING_ADMIN_TOKEN', () => {
  const [first, second] = ['*:*.the-first-value-0001', '*:*.the-second-value-0002'];
  const init = '*:*.an-initial-token-0003';
  let databaseUrl: string;
  let drop: () => Promise<void>;
  let running: StartedGateway[];

  const start = async (given: string, environment: Record<string, string> = {}): Promise<StartedGateway> => {
    const gateway = await startGateway({ databaseUrl, environment: { BUNTING_ADMIN_TOKEN: given, ...environment } });
    running.push(gateway);
    return gateway;
  };
  const status = async (gateway: StartedGateway, key: string) =>
    (await gateway.send('/api/admin/user', { key })).status;

  beforeEach(async () => {
    running = [];
    ({ url: databaseUrl, drop } = await freshGatewayDatabase());
  });
  afterEach(async () => {
    for (const gateway of running) await gateway.stop();
    await drop();
  });

  it('revokes the token of the earlier value on every replica, with an event, and no other token', async () => {
    const older = await start(first, { INIT_ADMIN_API_TOKENS: init });
    expect(await status(older, first)).toBe(200);
    const newer = await start(second);
    await eventually(async () => expect([await status(older, first), await status(newer, first)]).toEqual([401, 401]));
    for (const gateway of [older, newer]) {
      expect([await status(gateway, second), await status(gateway, init)]).toEqual([200, 200]);
    }
    expect((await newer.emittedEvents()).map(({ type }) => type)).toEqual([
      'api-token-created',
      'api-token-created',
      'api-token-deleted',
      'api-token-created',
    ]);
    expect((await newer.emittedEvents())[2]).toMatchObject({ createdByUserId: -1337, preData: { type: 'admin' } });
    expect(newer.logged()).toContain('of an earlier value of BUNTING_ADMIN_TOKEN');
    expect(newer.logged()).not.toContain('-value-000');
  });

  it('becomes the valid token when the process with it starts last, even if it was in use earlier', async () => {
    await start(first);
    const newer = await start(second);
    expect(await status(newer, first)).toBe(401);
    await start(first);
    await eventually(async () => expect([await status(newer, first), await status(newer, second)]).toEqual([200, 401]));
  });

  it('does not restore a token that an administrator has revoked', async () => {
    const last = await start(first, { INIT_ADMIN_API_TOKENS: init });
    const { shown } = (
      await last.database.read<{ shown: string }>({ text: "select shown from api_token where configured = 'current'" })
    )[0] as { shown: string };
    const deleted = await last.send(`/api/admin/api-tokens/${shown}`, { method: 'DELETE', key: init });
    expect(deleted.status).toBe(200);
    const again = await start(first);
    expect(await status(again, first)).toBe(401);
    expect(again.logged()).toContain('was revoked and stays so');
  });

  it('that is removed keeps the token, with a warning that it still works', async () => {
    await start(first);
    const without = await start('');
    expect(await status(without, first)).toBe(200);
    expect(without.logged()).toContain('BUNTING_ADMIN_TOKEN is not set any more');
  });
});

it('parses comma-separated tokens in the format of Unleash', () => {
  const { initial } = configuredTokens({
    INIT_ADMIN_API_TOKENS: '*:*.one-secret, *:*.another-secret,',
    INIT_CLIENT_API_TOKENS: 'default:development.third',
    INIT_FRONTEND_API_TOKENS: '*:production.with.dots:and-colons',
  });
  expect(initial).toEqual([
    { kind: 'admin', secret: '*:*.one-secret', projects: ['*'], environment: '*' },
    { kind: 'admin', secret: '*:*.another-secret', projects: ['*'], environment: '*' },
    { kind: 'client', secret: 'default:development.third', projects: ['default'], environment: 'development' },
    { kind: 'frontend', secret: '*:production.with.dots:and-colons', projects: ['*'], environment: 'production' },
  ]);
  expect(configuredTokens({})).toEqual({ adminToken: undefined, initial: [] });
});

it('a token that the settings contain twice counts once, with its first kind', () => {
  const secret = 'default:development.twice';
  const { initial } = configuredTokens({
    INIT_CLIENT_API_TOKENS: `${secret},${secret}`,
    INIT_FRONTEND_API_TOKENS: secret,
  });
  expect(initial).toMatchObject([{ kind: 'client', secret }]);
});

it.each<[action: string, stored: string, Partial<StoredConfiguredToken> | undefined]>([
  ['add', 'is not stored', undefined],
  ['keep', 'is that of the last start', { configured: 'current' }],
  ['of-another-kind', 'belongs to an SDK', { kind: 'client' }],
  ['mark-as-current', 'is another admin token', {}],
  ['restore', 'was replaced by another value', { configured: 'replaced', revokedAt: '2026-02-01T00:00:00.000Z' }],
  [
    'stays-revoked',
    'was revoked by an administrator',
    { configured: 'current', revokedAt: '2026-02-01T00:00:00.000Z' },
  ],
  ['stays-revoked', 'was another token and revoked', { revokedAt: '2026-02-01T00:00:00.000Z' }],
])('the action of a start is %j where the token of BUNTING_ADMIN_TOKEN %s', (action, _, stored) => {
  const unmarked: StoredConfiguredToken = {
    id: 'a',
    kind: 'admin',
    maskedSecret: 'given-a...',
    createdAt: '2026-01-01T00:00:00.000Z',
    revokedAt: null,
    configured: null,
  };
  expect(adminTokenAction(stored && { ...unmarked, ...stored })).toBe(action);
});

it.each([
  ['INIT_ADMIN_API_TOKENS', '*:*.good,default:*.narrow'],
  ['INIT_ADMIN_API_TOKENS', '*:*.good,nothing-like-it'],
  ['INIT_CLIENT_API_TOKENS', '*:development.good,*:*.everywhere'],
  ['INIT_CLIENT_API_TOKENS', '*:development.good,default:.none'],
  ['INIT_FRONTEND_API_TOKENS', 'a:b.good,[]:development.which-ones'],
  ['INIT_FRONTEND_API_TOKENS', 'a:b.good,a:b.'],
])('rejects a malformed token of %s by its position without quoting the secret: %s', (setting, value) => {
  const attempt = () => configuredTokens({ [setting]: value });
  expect(attempt).toThrow(new RegExp(`Token 2 of ${setting} must have the form`));
  expect(attempt).not.toThrow(/narrow|everywhere|nothing-like|which-ones/);
});
