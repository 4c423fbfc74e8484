import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { implement, JsonText } from '@bunting/bus';
import {
  GetFeature,
  GetDeprecatedProjectOverview,
  ImportFeatures,
  RemoveProjectEnvironment,
  TestAddon,
  outboxOperations,
  UpdateProject,
} from '@bunting/contracts';
import { eventually, startNats, readNatsStreamMessages } from '@bunting/testing';
import { connect, type Socket } from 'node:net';
import { rawRequest, sendRaw } from '../connections.ts';
import { refusalIn, refusalOf, servicesBehind } from '../access-api.ts';
import { adminToken, type StartedGateway, startGateway, startedGateway } from '../started-gateway.ts';

const featurePath = '/api/admin/projects/default/features/one';
const json = { 'content-type': 'application/json' };
const authorized = { authorization: adminToken };

/** Releases the response to the call that reads the project. */
let answerProject: () => void;
let projectAsked: Promise<void>;

const gateway = startedGateway({
  environment: {
    GATEWAY_MAX_BODY_BYTES: '2048',
    GATEWAY_MAX_LARGE_BODY_BYTES: '4096',
    GATEWAY_MAX_JSON_DEPTH: '6',
    GATEWAY_MAX_JSON_MEMBERS: '8',
    GATEWAY_MAX_JSON_ITEMS: '5',
    GATEWAY_MAX_JSON_VALUES: '30',
    GATEWAY_MAX_LARGE_JSON_ITEMS: '20',
    GATEWAY_MAX_LARGE_JSON_VALUES: '40',
    GATEWAY_MAX_URL_BYTES: '256',
    GATEWAY_MAX_QUERY_PARAMETERS: '3',
    GATEWAY_MAX_HEADER_BYTES: '2048',
    GATEWAY_MAX_HEADERS: '16',
    GATEWAY_MAX_CONCURRENT_REQUESTS: '1',
  },
});
beforeAll(async () => {
  const behind = servicesBehind();
  let request: () => void;
  projectAsked = new Promise((resolve) => (request = resolve));
  const untilAnswered = new Promise<void>((resolve) => (answerProject = resolve));
  const project = implement(GetDeprecatedProjectOverview, async () => {
    request();
    await untilAnswered;
    throw new Error('The project is answered in another test.');
  });
  await gateway.behind([...behind.endpoints, project]);
});

const createFeature = (body: string) =>
  gateway.send('/api/admin/projects/default/features', { method: 'POST', headers: json, body });
const importFeatures = (body: string) =>
  gateway.send('/api/admin/features-batch/import', { method: 'POST', headers: json, body });

describe('maximum body size', () => {
  const named = (extra: string) => `{"name":"one"${extra}}`;

  it.each<[string, string, number]>([
    ['GATEWAY_MAX_JSON_DEPTH', `,"tags":${'['.repeat(6)}${']'.repeat(6)}`, 400],
    ['GATEWAY_MAX_JSON_MEMBERS', ',"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1', 400],
    ['GATEWAY_MAX_JSON_ITEMS', ',"tags":[1,2,3,4,5,6]', 400],
    ['GATEWAY_MAX_JSON_VALUES', `,"tags":[${Array(5).fill('[1,2,3,4,5]').join()}]`, 400],
    ['GATEWAY_MAX_BODY_BYTES', `,"description":"${'x'.repeat(2_048)}"`, 413],
  ])('is that of the setting %s', async (_setting, extra, status) => {
    const response = await createFeature(named(extra));
    expect(response.status).toBe(status);
    expect((await refusalOf(response)).message).toMatch(/more than \d+|larger than 2048 bytes/);
    expect((await createFeature(named(''))).status).toBe(201);
  });

  it('of imports is larger than that of other operations', async () => {
    const file = (features: number) =>
      `{"project":"default","environment":"development","data":{"features":[${Array(features).fill('{}').join()}]}}`;
    const tooMany = async (count: number) => (await refusalOf(await importFeatures(file(count)))).message;
    expect(await tooMany(10)).not.toContain('more than');
    expect(await tooMany(21)).toContain('a list with more than 20 items');
    const values = `{"a":[${Array(18).fill('[1,1]').join()}]}`;
    expect((await refusalOf(await importFeatures(values))).message).toContain('more than 40 values');
    expect((await importFeatures(`"${'x'.repeat(4_096)}"`)).status).toBe(413);
  });
});

describe('maximum size of usage reports', () => {
  it('lets a server, and no page, report on as many flags as a list may have items', async () => {
    const [frontend, client] = ['*:development.key-of-a-page-with-flags', '*:development.key-of-a-server-with-flags'];
    await gateway.givenToken({ token: frontend, kind: 'frontend', environment: 'development' });
    await gateway.givenToken({ token: client, kind: 'client', environment: 'development' });
    const refusal = async (path: string, key: string, flags: number) => {
      const toggles = Object.fromEntries(Array.from({ length: flags }, (_, nth) => [`flag-${nth}`, 0]));
      const body = JSON.stringify({ appName: 'wide', bucket: { toggles } });
      return (await refusalOf(await gateway.send(path, { method: 'POST', key, headers: json, body }))).message;
    };
    expect(await refusal('/api/client/metrics', client, 20)).not.toContain('more than');
    expect(await refusal('/api/client/metrics', client, 21)).toContain('an object with more than 20 members');
    expect(await refusal('/api/frontend/client/metrics', frontend, 9)).toContain('an object with more than 8 members');
  });

  it('applies the ordinary body limit to usage reports with public frontend tokens', async () => {
    const [frontend, client] = ['*:development.key-of-a-page', '*:development.key-of-a-server'];
    await gateway.givenToken({ token: frontend, kind: 'frontend', environment: 'development' });
    await gateway.givenToken({ token: client, kind: 'client', environment: 'development' });
    const body = JSON.stringify({ appName: 'x'.repeat(3_000) });
    const report = async (path: string, key: string) =>
      (await gateway.send(path, { method: 'POST', key, headers: json, body })).status;
    expect(await report('/api/frontend/client/metrics', frontend)).toBe(413);
    expect(await report('/api/client/metrics', client)).toBe(400);
  });
});

describe('maximum length of a URL', () => {
  it.each<[string, string]>([
    ['GATEWAY_MAX_URL_BYTES', `?${'x'.repeat(256)}`],
    ['GATEWAY_MAX_QUERY_PARAMETERS', '?a&b&c&d'],
    ['GATEWAY_MAX_URL_BYTES, whatever is in it', `%zz${'x'.repeat(256)}`],
  ])('is checked before the token of the request: %s', async (_setting, more) => {
    const response = await gateway.send(`${featurePath}${more}`, { key: null });
    expect([response.status, (await refusalOf(response)).name]).toEqual([414, 'UriTooLong']);
    expect((await gateway.send(`${featurePath}?a&b&c`)).status).toBe(200);
  });
});

describe('maximum headers', () => {
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, nth) => [`x-${nth}`, 'x']));

  it.each<[string, Record<string, string>]>([
    ['GATEWAY_MAX_HEADER_BYTES', { 'x-long': 'x'.repeat(2_048) }],
    ['GATEWAY_MAX_HEADERS', many(14)],
    ['GATEWAY_MAX_HEADERS, however many more there are', many(200)],
  ])('are limited by the setting %s', async (_setting, headers) => {
    const answer = await sendRaw(gateway.port, rawRequest('GET', featurePath, { ...authorized, ...headers }));
    expect([answer.status, refusalIn(answer.body).name]).toEqual([431, 'HeadersTooLarge']);
    const within = await sendRaw(gateway.port, rawRequest('GET', featurePath, { ...authorized, ...many(13) }));
    expect(within.status).toBe(200);
  });
});

describe('slow clients', () => {
  const half = rawRequest(
    'POST',
    '/api/admin/projects/default/features',
    { ...authorized, ...json, 'content-length': '2000' },
    '{"name":"o',
  );
  let impatient: StartedGateway;
  beforeAll(async () => {
    impatient = await startGateway({
      environment: {
        GATEWAY_HEADERS_TIMEOUT_MS: '500',
        GATEWAY_BODY_TIMEOUT_MS: '1000',
        GATEWAY_LARGE_BODY_TIMEOUT_MS: '6000',
        GATEWAY_KEEP_ALIVE_TIMEOUT_MS: '200',
        GATEWAY_MAX_CONCURRENT_REQUESTS: '1',
      },
    });
    await impatient.behind(servicesBehind().endpoints);
  });
  afterAll(() => impatient.stop());
  const slow: [setting: string, begun: string][] = [
    ['GATEWAY_HEADERS_TIMEOUT_MS', 'GET /health HTTP/1.1\r\nhost: localhost\r\nx-slow: '],
    ['GATEWAY_BODY_TIMEOUT_MS', half],
  ];

  it.each(slow)('is cut off after %s, however it drips', async (_setting, begun) => {
    let dripping: NodeJS.Timeout | undefined;
    const answer = await sendRaw(impatient.port, begun, (socket) => {
      dripping = setInterval(() => socket.writable && socket.write(' '), 50);
    });
    clearInterval(dripping);
    expect([answer.status, refusalIn(answer.body).name]).toEqual([408, 'RequestTimeout']);
    expect(answer.tookMs).toBeGreaterThan(250);
  });

  it.each(slow)('is cut off after %s when it stops in the middle', async (_setting, begun) => {
    const answer = await sendRaw(impatient.port, begun);
    expect([answer.status, answer.headers['connection'], refusalIn(answer.body).message]).toEqual([
      408,
      'close',
      'The request did not arrive in time. Send it again.',
    ]);
    expect(answer.tookMs).toBeGreaterThan(250);
  });

  it('closes a connection that sends no request', async () => {
    const ended = await new Promise<string>((resolve) => {
      const socket = connect(impatient.port, '127.0.0.1');
      socket.on('data', () => undefined).once('error', () => resolve('reset'));
      socket.once('close', () => resolve('closed'));
    });
    expect(ended).toBe('closed');
  });

  it('takes no permit of handled requests while a body arrives, and releases all of its permits', async () => {
    const sockets = () => process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length;
    const before = sockets();
    // One permit is left.
    const stalled = Array.from({ length: 40 }, () => sendRaw(impatient.port, half));
    expect((await impatient.send(featurePath)).status).toBe(200);
    const statuses = (await Promise.all(stalled)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([408]));
    expect((await impatient.send(featurePath)).status).toBe(200);
    await eventually(() => expect(sockets()).toBeLessThan(before + stalled.length / 2));
  });

  it('allows GATEWAY_LARGE_BODY_TIMEOUT_MS for the body of an import', async () => {
    const headers = { ...authorized, ...json, 'content-length': '2000' };
    const ordinary = sendRaw(impatient.port, half);
    const large = sendRaw(impatient.port, rawRequest('POST', '/api/admin/features-batch/import', headers, '{"proj'));
    let isOver = false;
    void large.then(() => (isOver = true));
    expect([(await ordinary).status, isOver]).toEqual([408, false]);
    expect((await large).status).toBe(408);
  });

  it('closes an idle connection after GATEWAY_KEEP_ALIVE_TIMEOUT_MS', async () => {
    const answer = await sendRaw(impatient.port, rawRequest('GET', '/health', { connection: 'keep-alive' }));
    expect(answer.status).toBe(200);
    expect(answer.tookMs).toBeGreaterThan(150);
  });
});

describe('concurrent requests', () => {
  it('rejects requests beyond GATEWAY_MAX_CONCURRENT_REQUESTS immediately, except health checks', async () => {
    const first = gateway.send('/api/admin/projects/default');
    await projectAsked;
    const second = await gateway.send(featurePath);
    expect([second.status, second.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await refusalOf(second)).toMatchObject({
      name: 'ServiceUnavailable',
      message: 'Bunting is overloaded. Please try again.',
    });
    expect((await gateway.send(featurePath.replace('/api', '/%61pi'))).status).toBe(503);
    expect((await gateway.send('/health/live')).status).toBe(200);
    answerProject();
    expect((await first).status).toBe(500);
    expect((await gateway.send(featurePath)).status).toBe(200);
  });
});

describe('unauthenticated clients', () => {
  it('take no permits from authenticated requests when they never read a page', async () => {
    const asset = '/docs/assets/swagger-ui-bundle.js';
    const socket = connect(gateway.port, '127.0.0.1').pause();
    socket.write(rawRequest('GET', asset, { connection: 'keep-alive' }).repeat(30));
    await eventually(() => expect(gateway.logged()).toContain('"route":"/docs/assets/'));
    expect((await gateway.send(featurePath)).status).toBe(200);
    socket.destroy();
  });
});

describe('responses that clients do not read', () => {
  const bytes = 16 * 1024 * 1024;
  const large = new JsonText(`"${'x'.repeat(bytes)}"`);
  const withReaders = async (
    environment: Readonly<Record<string, string>>,
    work: (started: StartedGateway, unread: readonly Socket[]) => Promise<void>,
  ): Promise<void> => {
    const started = await startGateway({ environment });
    await started.behind([implement(GetFeature, async () => large as never)]);
    const unread = Array.from({ length: 6 }, () => {
      const socket = connect(started.port, '127.0.0.1').on('error', () => undefined);
      return socket.pause();
    });
    for (const socket of unread) socket.write(rawRequest('GET', featurePath, authorized));
    try {
      await work(started, unread);
    } finally {
      for (const socket of unread) socket.destroy();
      await started.stop();
    }
  };
  const cut = ({ lines }: StartedGateway) => lines.filter(({ outcome }) => outcome === 'aborted').length;

  it('buffers at most GATEWAY_MAX_UNREAD_RESPONSE_BYTES of unread responses while other clients are served', () =>
    withReaders({ GATEWAY_MAX_UNREAD_RESPONSE_BYTES: String(2 * bytes), CHECK_REPLIES: 'false' }, async (started) => {
      await eventually(() => expect(cut(started)).toBe(5));
      const answer = await started.send(featurePath);
      expect([answer.status, (await answer.text()).length]).toEqual([200, bytes + 2]);
    }));
});

describe('SQL statements of the gateway', () => {
  it('responds 503 when a statement exceeds GATEWAY_STATEMENT_TIMEOUT_MS', async () => {
    const impatient = await startGateway({ environment: { GATEWAY_STATEMENT_TIMEOUT_MS: '2000' } });
    await impatient.database.transaction(async ({ query }) => {
      await query('lock table api_token in access exclusive mode');
      const response = await impatient.send(featurePath);
      expect([response.status, (await refusalOf(response)).name]).toEqual([503, 'ServiceUnavailable']);
    });
    await impatient.stop();
  });
});

describe('a service that does not reply', () => {
  /** the timeouts that the service received */
  let given: number[];
  let impatient: StartedGateway;
  let answered: () => void;

  beforeAll(async () => {
    impatient = await startGateway({
      environment: { GATEWAY_CALL_TIMEOUT_MS: '150', GATEWAY_LARGE_CALL_TIMEOUT_MS: '600' },
    });
    given = [];
    const end = new Promise<void>((resolve) => (answered = resolve));
    const never = async ({ deadline, now }: { deadline: Date; now: Date }): Promise<never> => {
      given.push(deadline.getTime() - now.getTime());
      await end;
      throw new Error('The caller no longer waits for the reply.');
    };
    await impatient.behind([
      implement(GetFeature, never),
      implement(ImportFeatures, never),
      implement(RemoveProjectEnvironment, never),
      implement(TestAddon, never),
    ]);
  });
  afterAll(async () => {
    answered();
    await impatient.stop();
  });

  it.each<[string, string, string, number]>([
    ['GATEWAY_CALL_TIMEOUT_MS', 'GET', featurePath, 150],
    ['GATEWAY_LARGE_CALL_TIMEOUT_MS', 'POST', '/api/admin/features-batch/import', 600],
    ['GATEWAY_LARGE_CALL_TIMEOUT_MS', 'DELETE', '/api/admin/projects/default/environments/development', 600],
    ['GATEWAY_LARGE_CALL_TIMEOUT_MS', 'POST', '/api/admin/addons/1/test', 600],
  ])('has a timeout %s, which it receives as its deadline', async (_setting, method, path, ms) => {
    given.splice(0);
    const data = { features: [], featureStrategies: [], tagTypes: [] };
    const body = JSON.stringify({ project: 'default', environment: 'development', data });
    const response = await impatient.send(path, { method, ...(method === 'POST' ? { headers: json, body } : {}) });
    expect(response.status).toBe(503);
    expect(await refusalOf(response)).toMatchObject({
      name: 'ServiceUnavailable',
      message: expect.stringContaining('did not answer in time'),
    });
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(given).toEqual([ms]);
  });
});

describe('intervals and waits of the gateway', () => {
  const project = {
    entity: 'project',
    id: 'hushed',
    version: 1,
    state: { id: 'hushed', mode: 'private', createdBy: null },
  };
  /** A features service with one private project and no wake-ups. */
  const unannounced = (reading: () => void = () => undefined) =>
    implement(outboxOperations.features, async ({ body: { after } }) => {
      reading();
      const message = {
        position: 1,
        uid: '0b5b6a52-0000-4000-8000-000000000001',
        type: 'project',
        recordedAt: new Date().toISOString(),
        traceparent: null,
        payload: project,
      };
      return { head: 1, messages: after < 1 ? [message] : [] };
    });

  it('polls for changes of projects every GATEWAY_PROJECTS_POLL_INTERVAL_MS without a wake-up signal', async () => {
    const started = await startGateway({ environment: { GATEWAY_PROJECTS_POLL_INTERVAL_MS: '20' } });
    let readings = 0;
    await started.behind([unannounced(() => readings++)]);
    const known = { text: "select mode from project where id = 'hushed'" };
    await eventually(async () => expect(await started.database.read(known)).toEqual([{ mode: 'private' }]));
    const before = readings;
    await eventually(() => expect(readings).toBeGreaterThan(before + 3));
    await started.stop();
  });

  it('waits GATEWAY_PROJECTS_WAIT_TIMEOUT_MS for the projection after a change of a project', async () => {
    /** Whether the response to a change comes before the projection can catch up. */
    const comesBefore = async (waitMs: string): Promise<boolean> => {
      const started = await startGateway({
        environment: { GATEWAY_PROJECTS_WAIT_TIMEOUT_MS: waitMs, GATEWAY_PROJECTS_POLL_INTERVAL_MS: '60000' },
      });
      let isReleased = false;
      let release: () => void = () => undefined;
      const held = new Promise<void>((resolve) => (release = resolve));
      let change: () => void = () => undefined;
      const changed = new Promise<void>((resolve) => (change = resolve));
      await started.behind([
        implement(UpdateProject, async () => {
          change();
          return null;
        }),
        implement(outboxOperations.features, async () => {
          await held;
          return { head: 0, messages: [] };
        }),
      ]);
      const body = JSON.stringify({ name: 'Renamed' });
      const responded = started
        .send('/api/admin/projects/default', { method: 'PUT', headers: json, body })
        .then(({ status }) => ({ status, isFirst: !isReleased }));
      await changed;
      if (waitMs === '0') await responded;
      // The gateway has handled the change before these requests.
      for (let requests = 0; requests < 3; requests++) await started.send('/health');
      isReleased = true;
      release();
      const { status, isFirst } = await responded;
      expect(status).toBe(200);
      await started.stop();
      return isFirst;
    };
    expect(await comesBefore('600000')).toBe(false);
    expect(await comesBefore('0')).toBe(true);
  });
});

describe('storage of the gateway', () => {
  it('publishes events of other processes after GATEWAY_RELAY_POLL_INTERVAL_MS', async () => {
    const nats = await startNats();
    const started = await startGateway({ environment: { GATEWAY_RELAY_POLL_INTERVAL_MS: '20', ...nats.settings } });
    await started.database.transaction(({ query }) =>
      query(`insert into outbox (topic, type, payload) select topic, type, '{"of":"other"}' from outbox limit 1`),
    );
    await eventually(async () =>
      expect((await readNatsStreamMessages(nats.url, 'bunting-gateway')).at(-1)?.payload).toContain('other'),
    );
    await started.stop();
    await nats.stop();
  });

  it('opens at most GATEWAY_DATABASE_POOL_MAX database connections', async () => {
    const started = await startGateway({ environment: { GATEWAY_DATABASE_POOL_MAX: '4' } });
    await started.behind(servicesBehind().endpoints);
    const mine = `select count(*)::int as count from pg_stat_activity
      where datname = current_database() and application_name = 'bunting-gateway'`;
    const statuses = await Promise.all(Array.from({ length: 60 }, () => started.send(featurePath)));
    expect(new Set(statuses.map(({ status }) => status))).toEqual(new Set([200]));
    const [row] = await started.database.read<{ count: number }>({ text: mine });
    expect(row?.count).toBeGreaterThan(1);
    expect(row?.count).toBeLessThanOrEqual(4);
    await started.stop();
  });
});
