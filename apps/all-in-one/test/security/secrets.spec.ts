import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningHost, host, openLog } from '@bunting/runtime';
import {
  eventually,
  type FreshDatabase,
  reservePort,
  freshDatabase,
  startNats,
  type TestNats,
  withClient,
} from '@bunting/testing';
import { randomBytes } from 'node:crypto';
import { services } from '../../src/services.ts';
import { type OtlpCollector, startOtlpCollector } from '../support/otlp-collector.ts';

const canary = (label: string): string => `canary${label}${randomBytes(8).toString('hex')}`;

/** Secrets: only the client that sent or created one may see it, and nothing that is stored reveals it. */
const adminToken = `*:*.${canary('admin')}`;
const tokenKey = `${canary('tokenkey')}-${'k'.repeat(32)}`;
const secrets: string[] = [adminToken, tokenKey];
const secret = (label: string): string => {
  const made = canary(label);
  secrets.push(made);
  return made;
};
/** User text: it is stored and returned to permitted callers, and must not be in logs and metrics. */
const payloads: string[] = [];
const payload = (label: string): string => {
  const made = canary(label);
  payloads.push(made);
  return made;
};

const json = 'application/json';
const featuresPath = '/api/admin/projects/default/features';

let nats: TestNats;
let hosted: RunningHost;
let collector: OtlpCollector;
const fresh = new Map<string, FreshDatabase>();
let aside: FreshDatabase;
const logged: string[] = [];
const responses: string[] = [];
let url = '';

const settingOf = (service: string, name: string): string => `${service.toUpperCase().replaceAll('-', '_')}_${name}`;

const send = async (
  path: string,
  init: { method?: string; key?: string; headers?: Record<string, string>; body?: unknown } = {},
): Promise<{ status: number; text: string }> => {
  const { method = 'GET', key = adminToken, headers = {}, body } = init;
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: key, ...(body === undefined ? {} : { 'content-type': json }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  responses.push(`${[...response.headers].join('\n')}\n${text}`);
  return { status: response.status, text };
};

const addressOf = (service: string): string => fresh.get(service)?.url ?? '';

const inDatabase = (address: string, ...statements: string[]): Promise<void> =>
  withClient(address, async (client) => {
    for (const statement of statements) await client.query(statement);
  });

/** Everything that a service has stored, as text. */
const storedBy = (service: string): Promise<string> =>
  withClient(addressOf(service), async (client) => {
    const { rows: tables } = await client.query<{ name: string }>(
      "select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public'",
    );
    const stored: string[] = [];
    for (const { name } of tables) {
      const { rows } = await client.query<{ row: string }>(`select stored::text as row from ${name} stored`);
      stored.push(...rows.map(({ row }) => row));
    }
    return stored.join('\n');
  });

beforeAll(async () => {
  nats = await startNats();
  aside = await freshDatabase('aside');
  collector = await startOtlpCollector();
  const environment: Record<string, string> = {
    ...nats.settings,
    PORT: '0',
    GATEWAY_HOST: '127.0.0.1',
    BUNTING_ADMIN_TOKEN: adminToken,
    GATEWAY_TOKEN_KEY: tokenKey,
    GATEWAY_TOKEN_CACHE_TTL_MS: '0',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=${secret('collector')}`,
    OTEL_BSP_SCHEDULE_DELAY: '10',
  };
  for (const { name } of services) {
    const database = await freshDatabase(name);
    fresh.set(name, database);
    environment[settingOf(name, 'DATABASE_URL')] = database.url;
    environment[settingOf(name, 'OPS_PORT')] = String(await reservePort());
  }
  hosted = await host(services, {
    environment,
    log: openLog('trace', { write: (line) => void logged.push(line) }),
  });
  url = (hosted.services.get('gateway') as { address?: string }).address ?? '';
});

afterAll(async () => {
  await hosted.stop();
  for (const database of [...fresh.values(), aside]) await database.drop();
  await nats.stop();
  await collector.stop();
});

const seenIn = (text: string, hidden: readonly string[]): string[] => hidden.filter((one) => text.includes(one));

/** Expects that no secret occurs in the logs, responses and tables so far. */
const expectNothingSeen = async (): Promise<void> => {
  const metrics: string[] = [(await send('/internal-backstage/prometheus')).text];
  for (const port of hosted.monitoringPorts.values()) {
    metrics.push(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text());
  }
  const stored: string[] = [];
  for (const { name } of services) stored.push(await storedBy(name));
  const log = logged.join('');
  expect(log).toContain('"operation":"create-feature"');
  expect(stored.join('\n')).toContain('feature-created');
  // The span of the last request is exported after all earlier ones.
  const traceId = randomBytes(16).toString('hex');
  await send(featuresPath, { headers: { traceparent: `00-${traceId}-${traceId.slice(16)}-01` } });
  await eventually(() => expect(collector.spans.map((span) => span.traceId)).toContain(traceId));
  const traces = collector.text();
  expect(traces).toContain('features/create-feature');
  expect({
    'secrets in the log': seenIn(log, secrets),
    'secrets in the measurements': seenIn(metrics.join('\n'), secrets),
    'secrets in the traces': seenIn(traces, secrets),
    'secrets in what is stored': seenIn(stored.join('\n'), secrets),
    'secrets in responses': seenIn(responses.join('\n'), secrets),
    'payloads in the log': seenIn(log, payloads),
    'payloads in the measurements': seenIn(metrics.join('\n'), payloads),
  }).toEqual({
    'secrets in the log': [],
    'secrets in the measurements': [],
    'secrets in the traces': [],
    'secrets in what is stored': [],
    'secrets in responses': [],
    'payloads in the log': [],
    'payloads in the measurements': [],
  });
};

describe('a secret', () => {
  it('is in no log, metric, event, index or response of successful requests', async () => {
    const headers = {
      cookie: `session=${secret('cookie')}`,
      'x-api-key': secret('apikey'),
      'proxy-authorization': `Basic ${secret('proxy')}`,
      'x-forwarded-for': '192.0.2.1',
      referer: `https://example.org/?token=${secret('referer')}`,
      'user-agent': secret('agent'),
      'x-request-id': `with blanks ${secret('requestid')}`,
      traceparent: secret('trace'),
    };
    const token = secret('query');
    const created = await send(`${featuresPath}?token=${token}&access_token=${token}`, {
      method: 'POST',
      headers,
      body: { name: 'one', description: payload('description'), password: secret('unknownmember') },
    });
    expect(created.status).toBe(201);
    const strategy = { name: 'default', title: payload('title'), secret: secret('unknownmember') };
    const at = `${featuresPath}/one/environments/development/strategies`;
    expect((await send(at, { method: 'POST', headers, body: strategy })).status).toBe(200);
    const change = { action: 'updateEnabled', feature: 'one', payload: { enabled: true } };
    const proposed = { method: 'POST', headers, body: { ...change, token: secret('unknownmember') } };
    const requests = '/api/admin/projects/default/environments/development/change-requests';
    expect((await send(requests, proposed)).status).toBe(200);
    expect((await send(`/api/admin/search/features?query=one&key=${token}`, { headers })).status).toBe(200);
    const search = { method: 'POST', headers, body: { query: payload('searched') } };
    expect((await send('/api/admin/events/search', search)).status).toBe(200);
    await eventually(async () => expect(await storedBy('audit')).toContain('feature-created'));
    await expectNothingSeen();
  });

  it('is in no log, metric, event, index or response when it is refused', async () => {
    const guesses = [
      secret('guess'),
      `Bearer ${secret('guess')}`,
      `*:*.${secret('guess')}`,
      `default:dev.${secret('guess')}`,
    ];
    for (const key of guesses) expect((await send(featuresPath, { key })).status).toBe(401);
    const refusals: [string, Parameters<typeof send>[1], number][] = [
      [`/api/${secret('nosuch')}?token=x`.replace('?token=x', ''), { key: '' }, 401],
      [`${featuresPath}?token=${secret('query')}%zz`, { method: 'POST', body: '{"cut' }, 400],
      [featuresPath, { method: 'POST', body: `{"name":"two","password":"${secret('cut')}` }, 400],
      [featuresPath, { method: 'POST', body: { name: 7, password: secret('refused') } }, 400],
      [
        featuresPath,
        { method: 'POST', body: 'x', headers: { 'content-type': 'text/plain', cookie: secret('cookie') } },
        415,
      ],
      [`/api/admin/search/features?createdAt=nonsense&token=${secret('query')}`, {}, 400],
    ];
    for (const [path, init, status] of refusals)
      expect([path, (await send(path, init)).status]).toEqual([path, status]);
    // Responses may repeat values of their request: these must only be absent from the log.
    const repeated: [string, Parameters<typeof send>[1]][] = [
      [featuresPath, { method: 'POST', body: { name: `two ${payload('name')}` } }],
      [`${featuresPath}/${payload('absent')}`, {}],
      [`/nosuch/${payload('path')}`, {}],
      [`/api/admin/segments/${payload('number')}`, {}],
      [featuresPath, { method: 'POST', body: { name: 'three', type: payload('type') } }],
    ];
    for (const [path, init] of repeated) expect((await send(path, init)).status).toBeGreaterThanOrEqual(400);
    await expectNothingSeen();
  });

  it('that Bunting creates is shown once to the caller who created it, and is nowhere else', async () => {
    const made = async (path: string, body: unknown): Promise<Record<string, unknown>> => {
      const headers = { 'idempotency-key': canary('write') };
      const { status, text } = await send(path, { method: 'POST', body, headers });
      expect({ status, text }).toMatchObject({ status: 201 });
      // Only this response may contain it.
      if (text.includes('"secret"')) responses.pop();
      return JSON.parse(text) as Record<string, unknown>;
    };
    const admin = await made('/api/admin/api-tokens', { tokenName: 'one more', type: 'admin' });
    const client = await made('/api/admin/api-tokens', {
      tokenName: 'app',
      type: 'client',
      environment: 'development',
    });
    const account = await made('/api/admin/service-account', { username: 'robot', rootRole: 1 });
    const tokens = `/api/admin/service-account/${account['id'] as number}/token`;
    const personal = await made(tokens, { description: 'for a robot', expiresAt: '2040-01-01T00:00:00.000Z' });
    for (const token of [admin, client, personal]) {
      expect(token['secret']).toMatch(/[0-9a-f]{64}$/);
      // In a path its first characters are encoded.
      secrets.push(token['secret'] as string, (token['secret'] as string).slice(-64));
    }
    expect((await send('/api/admin/user', { key: personal['secret'] as string })).status).toBe(200);
    const inPath = `/api/admin/api-tokens/${String(client['secret'])}`;
    expect((await send(inPath, { method: 'DELETE' })).status).toBe(200);
    const login = { username: 'admin', password: secret('password') };
    expect((await send('/auth/simple/login', { method: 'POST', key: '', body: login })).status).toBe(401);
    for (const list of ['/api/admin/api-tokens', '/api/admin/service-account', tokens]) {
      expect((await send(list)).status).toBe(200);
    }
    await expectNothingSeen();
  });

  it('is in no log, metric or response of an unexpected error', async () => {
    // The messages of PostgreSQL for such failures contain the whole row or the invalid value.
    await inDatabase(
      addressOf('features'),
      "alter table feature add constraint never check (name not like 'never%') not valid",
      'alter table segment alter column description type varchar(3) using left(description, 3)',
    );
    await inDatabase(
      addressOf('change-requests'),
      'alter table change_request add constraint never check (false) not valid',
    );
    const feature = { name: 'never', description: payload('row'), password: secret('row') };
    const constraints = [{ contextName: 'userId', operator: 'IN', values: ['7'] }];
    const segment = { name: 'never', description: payload('value'), constraints };
    const broken = [
      await send(featuresPath, { method: 'POST', body: feature, headers: { cookie: secret('cookie') } }),
      await send('/api/admin/segments', { method: 'POST', body: segment }),
      await send('/api/admin/projects/default/environments/production/change-requests', {
        method: 'POST',
        body: {
          action: 'addStrategy',
          feature: 'one',
          payload: { name: 'default', title: payload('proposed'), constraints: [], parameters: {} },
        },
      }),
    ];
    for (const { status, text } of broken) {
      expect({ status, text }).toMatchObject({ status: 500 });
      expect(text).not.toMatch(/never|insert|constraint|select|\.ts|node_modules|at /i);
      expect(JSON.parse(text)).toMatchObject({ name: 'InternalError', id: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    }
    expect(logged.filter((line) => line.includes('"InternalError"')).length).toBeGreaterThanOrEqual(3);
    await expectNothingSeen();
  });

  it('is in no log, metric or response while a database is unavailable', async () => {
    const name = new URL(addressOf('features')).pathname.slice(1);
    await inDatabase(
      aside.url,
      `alter database "${name}" with allow_connections false`,
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
    );
    const body = { name: 'away', description: payload('away'), password: secret('away') };
    const { status, text } = await send(featuresPath, { method: 'POST', body, headers: { cookie: secret('cookie') } });
    expect(status).toBe(503);
    expect(text).not.toMatch(/postgres|5432|database "|select/i);
    await inDatabase(aside.url, `alter database "${name}" with allow_connections true`);
    await eventually(async () => expect((await send(featuresPath)).status).toBe(200));
    await expectNothingSeen();
  });

  it('is in no log, metric or response while NATS is unavailable', async () => {
    await nats.kill();
    const body = { name: 'lost', description: payload('lost'), password: secret('lost') };
    const { status, text } = await send(featuresPath, { method: 'POST', body, headers: { cookie: secret('cookie') } });
    expect(status).toBe(503);
    expect(text).not.toMatch(/127\.0\.0\.1|ECONN|\.ts/);
    await nats.restart();
    await eventually(async () => expect((await send(featuresPath)).status).toBe(200));
    await expectNothingSeen();
  });
});
