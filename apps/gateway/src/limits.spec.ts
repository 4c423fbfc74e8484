import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { implement } from '@bunting/bus';
import { GetProject } from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { connect } from 'node:net';
import { rawRequest, sendRaw } from '../test/raw-http.ts';
import { refusalIn, refusalOf } from '../test/refusal-of.ts';
import { servicesBehind } from '../test/services-behind.ts';
import { adminToken, type StartedGateway, startGateway } from '../test/started-gateway.ts';

const featurePath = '/api/admin/projects/default/features/one';
const json = { 'content-type': 'application/json' };
const authorized = { authorization: adminToken };

let gateway: StartedGateway;
/** Lets the call to the project that is awaited be answered. */
let answerProject: () => void;
let projectAsked: Promise<void>;

beforeAll(async () => {
  gateway = await startGateway({
    environment: {
      GATEWAY_BODY_LIMIT_BYTES: '2048',
      GATEWAY_LARGE_BODY_LIMIT_BYTES: '4096',
      GATEWAY_JSON_DEPTH: '6',
      GATEWAY_JSON_MEMBERS: '8',
      GATEWAY_JSON_ITEMS: '5',
      GATEWAY_JSON_VALUES: '30',
      GATEWAY_LARGE_JSON_ITEMS: '20',
      GATEWAY_LARGE_JSON_VALUES: '40',
      GATEWAY_URL_BYTES: '256',
      GATEWAY_QUERY_PARAMETERS: '3',
      GATEWAY_HEADERS_BYTES: '2048',
      GATEWAY_HEADERS: '16',
      GATEWAY_HEADERS_TIMEOUT_MS: '300',
      GATEWAY_ARRIVAL_TIMEOUT_MS: '600',
      GATEWAY_IDLE_TIMEOUT_MS: '200',
      GATEWAY_REQUESTS_AT_ONCE: '1',
    },
  });
  const behind = servicesBehind();
  let asked: () => void;
  projectAsked = new Promise((resolve) => (asked = resolve));
  const untilTold = new Promise<void>((resolve) => (answerProject = resolve));
  const project = implement(GetProject, async () => {
    asked();
    await untilTold;
    throw new Error('The project is answered in another test.');
  });
  await gateway.behind([...behind.endpoints, project]);
});
afterAll(() => gateway.stop());

const createFeature = (body: string) =>
  gateway.ask('/api/admin/projects/default/features', { method: 'POST', headers: json, body });
const importFeatures = (body: string) =>
  gateway.ask('/api/admin/features-batch/import', { method: 'POST', headers: json, body });

describe('the limit of a body', () => {
  const named = (extra: string) => `{"name":"one"${extra}}`;

  it.each<[string, string, number]>([
    ['GATEWAY_JSON_DEPTH', `,"tags":${'['.repeat(6)}${']'.repeat(6)}`, 400],
    ['GATEWAY_JSON_MEMBERS', ',"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1', 400],
    ['GATEWAY_JSON_ITEMS', ',"tags":[1,2,3,4,5,6]', 400],
    ['GATEWAY_JSON_VALUES', `,"tags":[${Array(5).fill('[1,2,3,4,5]').join()}]`, 400],
    ['GATEWAY_BODY_LIMIT_BYTES', `,"description":"${'x'.repeat(2_048)}"`, 413],
  ])('is %s', async (_setting, extra, status) => {
    const response = await createFeature(named(extra));
    expect(response.status).toBe(status);
    expect((await refusalOf(response)).message).toMatch(/more than \d+|larger than 2048 bytes/);
    expect((await createFeature(named(''))).status).toBe(201);
  });

  it('is another one for an import', async () => {
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

describe('the limit of an address', () => {
  it.each<[string, string]>([
    ['GATEWAY_URL_BYTES', `?${'x'.repeat(256)}`],
    ['GATEWAY_QUERY_PARAMETERS', '?a&b&c&d'],
    ['GATEWAY_URL_BYTES, whatever is in it', `%zz${'x'.repeat(256)}`],
  ])('is %s, and comes before the key', async (_setting, more) => {
    const response = await gateway.ask(`${featurePath}${more}`, { key: null });
    expect([response.status, (await refusalOf(response)).name]).toEqual([414, 'UriTooLong']);
    expect((await gateway.ask(`${featurePath}?a&b&c`)).status).toBe(200);
  });
});

describe('the limit of the headers', () => {
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, nth) => [`x-${nth}`, 'x']));

  it.each<[string, Record<string, string>]>([
    ['GATEWAY_HEADERS_BYTES', { 'x-long': 'x'.repeat(2_048) }],
    ['GATEWAY_HEADERS', many(14)],
    ['GATEWAY_HEADERS, however many more there are', many(200)],
  ])('is %s', async (_setting, headers) => {
    const answer = await sendRaw(gateway.port, rawRequest('GET', featurePath, { ...authorized, ...headers }));
    expect([answer.status, refusalIn(answer.body).name]).toEqual([431, 'HeadersTooLarge']);
    const within = await sendRaw(gateway.port, rawRequest('GET', featurePath, { ...authorized, ...many(13) }));
    expect(within.status).toBe(200);
  });
});

describe('a client that takes its time', () => {
  it.each<[string, string]>([
    ['GATEWAY_HEADERS_TIMEOUT_MS', 'GET /health HTTP/1.1\r\nhost: localhost\r\nx-slow: '],
    [
      'GATEWAY_ARRIVAL_TIMEOUT_MS',
      rawRequest('POST', '/api/admin/projects/default/features', {
        ...authorized,
        ...json,
        'content-length': '20',
      }),
    ],
  ])('is cut off after %s, however it drips', async (_setting, begun) => {
    let dripping: NodeJS.Timeout | undefined;
    const answer = await sendRaw(gateway.port, begun, (socket) => {
      dripping = setInterval(() => socket.writable && socket.write(' '), 50);
    });
    clearInterval(dripping);
    expect([answer.status, refusalIn(answer.body).name]).toEqual([408, 'RequestTimeout']);
    expect(answer.tookMs).toBeGreaterThan(250);
    expect(answer.tookMs).toBeLessThan(5_000);
  });

  it('between two requests loses its connection after GATEWAY_IDLE_TIMEOUT_MS', async () => {
    const answer = await sendRaw(gateway.port, rawRequest('GET', '/health', { connection: 'keep-alive' }));
    expect(answer.status).toBe(200);
    expect(answer.tookMs).toBeGreaterThan(150);
    expect(answer.tookMs).toBeLessThan(5_000);
  });
});

describe('more requests than are answered at once', () => {
  it('are refused at once beyond GATEWAY_REQUESTS_AT_ONCE, but for those about health', async () => {
    const first = gateway.ask('/api/admin/projects/default');
    await projectAsked;
    const second = await gateway.ask(featurePath);
    expect([second.status, second.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await refusalOf(second)).toMatchObject({
      name: 'ServiceUnavailable',
      message: 'Bunting has more to do than it can take on now. Please try again.',
    });
    expect((await gateway.ask(featurePath.replace('/api', '/%61pi'))).status).toBe(503);
    expect((await gateway.ask('/health/live')).status).toBe(200);
    answerProject();
    expect((await first).status).toBe(500);
    expect((await gateway.ask(featurePath)).status).toBe(200);
  });
});

describe('a reader of the documentation who never reads', () => {
  it('takes no place from requests with a key', async () => {
    const asset = '/docs/assets/swagger-ui-bundle.js';
    const socket = connect(gateway.port, '127.0.0.1').pause();
    socket.write(rawRequest('GET', asset, { connection: 'keep-alive' }).repeat(30));
    await eventually(() => expect(gateway.logged()).toContain('"route":"/docs/assets/'));
    expect((await gateway.ask(featurePath)).status).toBe(200);
    socket.destroy();
  });
});

describe('a statement of the gateway', () => {
  it('is given up after GATEWAY_STATEMENT_TIMEOUT_MS, and the answer is 503', async () => {
    const impatient = await startGateway({ environment: { GATEWAY_STATEMENT_TIMEOUT_MS: '100' } });
    await impatient.database.transaction(async ({ query }) => {
      await query('lock table api_token in access exclusive mode');
      const response = await impatient.ask(featurePath);
      expect([response.status, (await refusalOf(response)).name]).toEqual([503, 'ServiceUnavailable']);
    });
    await impatient.stop();
  });
});
