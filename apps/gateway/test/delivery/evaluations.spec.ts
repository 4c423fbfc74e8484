import { type Endpoint } from '@bunting/bus';
import { unavailable, type OfrepBulkEvaluation, type OfrepEvaluation, type OfrepFailure } from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { get, type IncomingMessage } from 'node:http';
import { aSetting, aStrategy, deliveryOutbox, featureRow, givenRows, segmentRow } from '@bunting/delivery/test';
import { type StartedGateway, startGateway } from '../started-gateway.ts';

const flagsPath = '/ofrep/v1/evaluate/flags';
const [page, north, server, ending] = [
  '*:development.a-key-of-a-page',
  'north:development.a-key-of-a-page',
  '*:development.a-key-of-a-server',
  '*:development.a-key-that-ends',
];

const inNewEnvironment = '*:new.a-key-of-a-server';
let gateway: StartedGateway;
const outbox = deliveryOutbox();
let isProducerAway = false;
const streams: IncomingMessage[] = [];

const variant = (name: string, weight: number, payload?: { type: string; value: string }) => ({
  name,
  weight,
  stickiness: 'default',
  ...(payload === undefined ? {} : { payload }),
});
/** A feature that is on in development for all users whom the strategy gives it. */
const flag = (name: string, strategy: object = {}, more: object = {}) =>
  featureRow(name, {
    environments: { development: aSetting({ strategies: [{ ...aStrategy(), ...strategy }] as never }) },
    ...more,
  });
const only = (type: string, value: string) => ({ variants: [variant('only', 1000, { type, value })] });

beforeAll(async () => {
  gateway = await startGateway();
  outbox.write(...givenRows('default', 'north'), segmentRow(7, 'ada'));
  const readOutbox: Endpoint = {
    ...outbox.endpoint,
    handle: (request) => {
      if (isProducerAway) throw unavailable('The features service is away.');
      return outbox.endpoint.handle(request);
    },
  };
  await gateway.behind([readOutbox], { checkReplies: true });
  for (const token of [page, ending]) await gateway.givenToken({ token, kind: 'frontend', environment: 'development' });
  await gateway.givenToken({ token: north, kind: 'frontend', environment: 'development', projects: ['north'] });
  await gateway.givenToken({ token: server, kind: 'client', environment: 'development' });
  await eventually(async () => expect((await evaluate('', {})).status).toBe(200));
});
afterAll(async () => {
  for (const stream of streams) stream.destroy();
  await gateway.stop();
});

const send = (path: string, body: string, headers: Record<string, string> = { authorization: `Bearer ${page}` }) =>
  gateway.send(path, { method: 'POST', key: null, headers: { 'content-type': 'application/json', ...headers }, body });
const evaluate = (key: string, context?: unknown, headers?: Record<string, string>) =>
  send(key === '' ? flagsPath : `${flagsPath}/${key}`, JSON.stringify({ context }), headers);
const resultOf = async (key: string, context: object = {}) =>
  (await (await evaluate(key, context)).json()) as OfrepEvaluation & OfrepFailure;

describe('an OFREP evaluation', () => {
  it('has the payload of the variant by its type, or whether the feature is on where no variant has a payload', async () => {
    const payloads = [
      ['text', 'string', 'a, b', 'a, b'],
      ['list', 'csv', 'a, b', 'a, b'],
      ['number', 'number', '-2.5', -2.5],
      ['object', 'json', '{"a":[1,null]}', { a: [1, null] }],
      ['array', 'json', '[1]', [1]],
    ] as const;
    outbox.write(...payloads.map(([name, type, value]) => flag(`typed-${name}`, only(type, value))));
    for (const [name, , , value] of payloads) {
      expect(await resultOf(`typed-${name}`)).toEqual({
        key: `typed-${name}`,
        value,
        reason: 'STATIC',
        variant: 'only',
        metadata: { featureEnabled: true, impressionData: false },
      });
    }
    outbox.write(
      flag('plain'),
      flag('plain-variant', { variants: [variant('only', 1000)] }),
      flag('typed-off', only('string', 'a'), {
        environments: {
          development: aSetting({ enabled: false, strategies: [{ ...aStrategy(), ...only('string', 'a') }] as never }),
        },
      }),
      flag('typed-null', only('json', 'null')),
      featureRow('plain-off', { environments: { development: aSetting({ enabled: false }) } }),
    );
    const constraints = [{ contextName: 'userId', operator: 'IN', values: ['ada'] }];
    const strategies = [
      { ...aStrategy(), ...only('string', 'hers'), constraints },
      { ...aStrategy(), ...only('string', 'all') },
    ];
    outbox.write(
      featureRow('same-name', { environments: { development: aSetting({ strategies: strategies as never }) } }),
    );
    const values = ['ada', 'bob', 'ada'].map(async (userId) => (await resultOf('same-name', { userId })).value);
    expect(await Promise.all(values)).toEqual(['hers', 'all', 'hers']);
    expect(await resultOf('plain')).toMatchObject({ value: true, reason: 'STATIC' });
    expect(await resultOf('plain-variant')).toMatchObject({ value: true, variant: 'only' });
    expect(await resultOf('plain-off')).toMatchObject({ value: false, reason: 'DISABLED' });
    // Without a value, the default in the code applies.
    for (const name of ['typed-off', 'typed-null']) expect(await resultOf(name)).not.toHaveProperty('value');
  });

  it('says whether targeting, a rollout or nothing at all decided, and takes `targetingKey` for the user and the session', async () => {
    const constraints = [{ contextName: 'plan', operator: 'IN', values: ['pro'] }];
    outbox.write(
      flag('why-constraint', { constraints }),
      flag('why-segment', { segments: [7] }),
      flag('why-rollout', { parameters: { rollout: '50', stickiness: 'default', groupId: 'g' } }),
      flag('why-session', { parameters: { rollout: '50', stickiness: 'sessionId', groupId: 'g' } }),
      flag('why-weights', { variants: [variant('a', 500), variant('b', 500)] }),
      flag('why-unknown', { name: 'ourOwn' }),
      flag('why-parent', {}, { dependencies: [{ feature: 'why-constraint', enabled: true }] }),
    );
    const reasons = async (context: object) => {
      const names = ['constraint', 'segment', 'rollout', 'session', 'weights', 'unknown', 'parent'];
      const found = await Promise.all(names.map((name) => resultOf(`why-${name}`, context)));
      return found.map(({ value, reason }) => `${value} ${reason}`);
    };
    const ada = await reasons({ targetingKey: 'ada', plan: 'pro' });
    expect(ada).toEqual([
      'true TARGETING_MATCH',
      'true TARGETING_MATCH',
      expect.stringContaining('SPLIT'),
      expect.stringContaining('SPLIT'),
      'true SPLIT',
      'false UNKNOWN',
      'true TARGETING_MATCH',
    ]);
    expect(await reasons({ userId: 'ada', sessionId: 'ada', properties: { plan: 'pro' } })).toEqual(ada);
    const other = await reasons({ targetingKey: 'bob' });
    expect([other[0], other[1], other[6]]).toEqual(Array(3).fill('false TARGETING_MATCH'));
    // The context names another user than its key.
    expect(await resultOf('why-segment', { targetingKey: 'bob', userId: 'ada' })).toMatchObject({ value: true });
  });

  it('needs a targeting key where a share of the users decides, and only there', async () => {
    outbox.write(
      flag('share', { parameters: { rollout: '50', stickiness: 'default', groupId: 'g' } }),
      flag('everyone', { parameters: { rollout: '100', stickiness: 'default', groupId: 'g' } }),
      flag('by-chance', { parameters: { rollout: '50', stickiness: 'random', groupId: 'g' } }),
    );
    const refused = await evaluate('share', { plan: 'pro' });
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      { key: 'share', errorCode: 'TARGETING_KEY_MISSING', errorDetails: expect.stringContaining('targetingKey') },
    ]);
    for (const name of ['everyone', 'by-chance']) expect((await evaluate(name, {})).status).toBe(200);
    const { flags } = (await (await evaluate('', {})).json()) as OfrepBulkEvaluation;
    expect(flags.find(({ key }) => key === 'share')).toMatchObject({ errorCode: 'TARGETING_KEY_MISSING' });
  });

  it.each([
    ['an unknown feature', 'nosuch', '{}', 404, 'FLAG_NOT_FOUND'],
    ['a body that is not JSON', 'plain', '{', 400, 'PARSE_ERROR'],
    ['a body that is a list', 'plain', '[]', 400, 'PARSE_ERROR'],
    ['a context that is a text', 'plain', '{"context":"ada"}', 400, 'INVALID_CONTEXT'],
    ['a key that is an object', 'plain', '{"context":{"targetingKey":{}}}', 400, 'INVALID_CONTEXT'],
    ['a payload that is no number', 'broken', '{}', 400, 'GENERAL'],
  ])('of %s is refused in the form of the protocol', async (_, key, body, status, errorCode) => {
    outbox.write(flag('plain'), flag('broken', only('number', 'seven')));
    const response = await send(`${flagsPath}/${key}`, body);
    expect([response.status, await response.json()]).toEqual([
      status,
      expect.objectContaining({ key, errorCode, errorDetails: expect.any(String), name: expect.any(String) }),
    ]);
  });

  it('always names a variant, `on` or `off` for a user who has none: providers read it', async () => {
    outbox.write(
      flag('named-plain'),
      flag('named-payload', only('string', 'a')),
      featureRow('named-off', { environments: { development: aSetting({ enabled: false }) } }),
    );
    const variants = ['plain', 'payload', 'off'].map(async (name) => (await resultOf(`named-${name}`)).variant);
    expect(await Promise.all(variants)).toEqual(['on', 'only', 'off']);
    const { flags } = (await (await evaluate('', {})).json()) as OfrepBulkEvaluation;
    expect(flags.filter((one) => !('errorCode' in one) && one.variant === undefined)).toEqual([]);
  });

  it('takes a body without a content type for JSON, and refuses one of another type', async () => {
    outbox.write(flag('untyped', { constraints: [{ contextName: 'userId', operator: 'IN', values: ['7'] }] }));
    const body = Buffer.from('{"context":{"targetingKey":7}}');
    const sendTyped = (headers: Record<string, string>) =>
      gateway.send(`${flagsPath}/untyped`, {
        method: 'POST',
        key: null,
        headers: { authorization: page, ...headers },
        body,
      });
    const untypedHeaders: Record<string, string>[] = [{}, { 'content-type': '' }];
    for (const headers of untypedHeaders) {
      const untyped = await sendTyped(headers);
      expect([untyped.status, await untyped.json()]).toMatchObject([200, { value: true }]);
    }
    const typed = await sendTyped({ 'content-type': 'text/plain' });
    expect([typed.status, await typed.json()]).toMatchObject([415, { key: 'untyped', errorCode: 'GENERAL' }]);
  });

  it.each([
    ['no context', '{"context":null}', false],
    ['no properties', '{"context":{"targetingKey":"7","properties":null}}', true],
    ['a user that is null', '{"context":{"targetingKey":"7","userId":null}}', true],
    [
      'a member of prototypes',
      String.raw`{"context":{"__proto__":{"a":1},"\u005f_proto__":1,"targetingKey":"7"}}`,
      true,
    ],
    [
      'a text that was cut within a character',
      String.raw`{"context":{"targetingKey":"7","name":"\ud83d","\u0000":1}}`,
      true,
    ],
  ])('goes by the rest of a context with %s', async (_, body, value) => {
    outbox.write(flag('lenient', { constraints: [{ contextName: 'userId', operator: 'IN', values: ['7'] }] }));
    const response = await send(`${flagsPath}/lenient`, body);
    expect([response.status, await response.json()]).toMatchObject([200, { value }]);
  });

  it('ignores values that are no fields, and takes every name for one', async () => {
    outbox.write(flag('named', { constraints: [{ contextName: 'constructor', operator: 'IN', values: ['x'] }] }));
    const context = { list: [1], object: { a: 1 }, nothing: null, properties: 'text', toString: 'y' };
    expect(await resultOf('named', context)).toMatchObject({ value: false });
    expect(await resultOf('named', { ...context, properties: { toString: 'x' }, constructor: 'x' })).toMatchObject({
      value: true,
    });
    const large = await evaluate('named', { constructor: 'x', text: 'x'.repeat(900_000) });
    expect([large.status, await large.json()]).toMatchObject([200, { value: true }]);
    const tooLarge = await evaluate('named', { text: 'x'.repeat(1_100_000) });
    expect([tooLarge.status, await tooLarge.json()]).toMatchObject([413, { errorCode: 'GENERAL' }]);
  });

  it('takes the token as Bearer, alone or as X-API-Key, of a page or a server, and no other', async () => {
    outbox.write(flag('keyed'));
    const statuses = async (...all: Record<string, string>[]) =>
      Promise.all(all.map(async (headers) => (await evaluate('keyed', {}, headers)).status));
    expect(
      await statuses({ authorization: page }, { 'x-api-key': page }, { 'x-api-key': server }, { 'x-api-key': 'x' }, {}),
    ).toEqual([200, 200, 200, 401, 401]);
    const elsewhere = await gateway.send('/api/frontend', { key: null, headers: { 'x-api-key': page } });
    expect(elsewhere.status).toBe(401);
    const refused = await evaluate('keyed', {}, {});
    expect(await refused.json()).toMatchObject({ errorCode: 'GENERAL', errorDetails: expect.any(String) });
    expect((await evaluate('keyed', {}, { 'x-api-key': north })).status).toBe(404);
    const preflight = await gateway.send(flagsPath, {
      method: 'OPTIONS',
      key: null,
      headers: { origin: 'https://shop.example.org', 'access-control-request-method': 'POST' },
    });
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
    expect(preflight.headers.get('access-control-allow-headers')).toContain('X-API-Key');
  });

  it('of all features lists each by name, also those that are off, and is 304 while nothing changed for the user', async () => {
    const bulk = (context: object, headers: Record<string, string> = {}) =>
      evaluate('', context, { 'x-api-key': north, ...headers });
    outbox.write(
      flag('bulk-a', { segments: [7] }, { project: 'north' }),
      featureRow('bulk-b', { project: 'north', environments: { development: aSetting({ enabled: false }) } }),
    );
    const first = await bulk({ targetingKey: 'ada' });
    const tag = first.headers.get('etag') ?? '';
    const { flags } = (await first.json()) as OfrepBulkEvaluation;
    expect(flags).toMatchObject([
      { key: 'bulk-a', value: true, reason: 'TARGETING_MATCH' },
      { key: 'bulk-b', value: false, reason: 'DISABLED' },
    ]);
    const conditional = async (userId: string) =>
      (await bulk({ targetingKey: userId }, { 'if-none-match': tag })).status;
    expect([await conditional('ada'), await conditional('bob')]).toEqual([304, 200]);
    outbox.write(segmentRow(7, 'bob'));
    expect([await conditional('ada'), await conditional('bob')]).toEqual([200, 304]);
    outbox.write(segmentRow(7, 'ada'));
    expect(await conditional('ada')).toBe(304);
    // An administrator's evaluation has no stream, since its token is not one of an SDK.
    const admin = await gateway.send(flagsPath, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    expect(await admin.json()).not.toHaveProperty('eventStreams');
  });
});

it('all OFREP evaluations at once are those one by one, in every encoding, for every token and after every change', async () => {
  const ticketOf = (evaluation: OfrepBulkEvaluation) => JSON.stringify(evaluation.eventStreams ?? []);
  const tokens = [page, ending, server, north];
  const encodings = ['identity', 'gzip', 'br'];
  const users = fc.record(
    {
      targetingKey: fc.constantFrom('ada', 'bob', 'eve'),
      plan: fc.constantFrom('free', 'pro'),
      properties: fc.constantFrom({ plan: 'pro' }, null),
    },
    { requiredKeys: [] },
  );
  const request = fc.record({
    token: fc.constantFrom(...tokens),
    encoding: fc.constantFrom(...encodings),
    context: users,
    rolloutOfChange: fc.constantFrom(undefined, undefined, undefined, '0', '50', '100'),
  });
  const names = ['one-a', 'one-b', 'one-c'];
  const constraints = [{ contextName: 'plan', operator: 'IN', values: ['pro'] }];
  outbox.write(
    flag('one-a', { parameters: { rollout: '50', stickiness: 'userId', groupId: 'a' } }, { project: 'north' }),
    flag('one-b', { constraints, ...only('json', '{"a":1}') }, { project: 'north' }),
    flag('one-c', only('number', 'seven'), { project: 'north' }),
  );
  const ticketsByToken = new Map<string, Set<string>>();
  const ofOne = async (key: string, context: object, headers: Record<string, string>) =>
    (await (await evaluate(key, context, headers)).json()) as OfrepEvaluation & OfrepFailure;
  await fc.assert(
    fc.asyncProperty(fc.array(request, { minLength: 4, maxLength: 8 }), async (requests) => {
      for (const { token, encoding, context, rolloutOfChange: rollout } of requests) {
        if (rollout !== undefined)
          outbox.write(
            flag('one-a', { parameters: { rollout, stickiness: 'userId', groupId: 'a' } }, { project: 'north' }),
          );
        const headers = { 'x-api-key': token };
        const response = await evaluate('', context, { ...headers, 'accept-encoding': encoding });
        const all = (await response.json()) as OfrepBulkEvaluation;
        const ones = await Promise.all(names.map((key) => ofOne(key, context, headers)));
        const facts = (one: object) => {
          const { key, value, variant, reason, errorCode } = one as OfrepEvaluation & OfrepFailure;
          return { key, value, variant, reason, errorCode };
        };
        expect(all.flags.filter(({ key }) => names.includes(key)).map(facts)).toEqual(ones.map(facts));
        expect(all.flags.every(({ key }) => token !== north || !['plain', 'keyed'].includes(key))).toBe(true);
        ticketsByToken.set(token, (ticketsByToken.get(token) ?? new Set()).add(ticketOf(all)));
      }
    }),
    { numRuns: 15 },
  );
  // A ticket is that of its token.
  const tickets = [...ticketsByToken.values()].flatMap((some) => [...some]);
  expect(new Set(tickets).size).toBe(tickets.length);
});

describe('an OFREP event stream', () => {
  const addressOf = async (key: string): Promise<string> => {
    const { eventStreams = [] } = (await (await evaluate('', {}, { 'x-api-key': key })).json()) as OfrepBulkEvaluation;
    expect(eventStreams).toEqual([
      {
        type: 'sse',
        endpoint: { requestUri: expect.stringContaining('/ofrep/v1/events?ticket=') },
        inactivityDelaySec: 120,
      },
    ]);
    return eventStreams[0]?.endpoint.requestUri ?? '';
  };
  const open = async (address: string, headers: Record<string, string> = {}) => {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get(`${gateway.url}${address}`, { headers, agent: false }, resolve).once('error', reject);
    });
    streams.push(response);
    let text = '';
    let hasEnded = false;
    response.on('data', (chunk: Buffer) => (text += chunk.toString()));
    response.once('close', () => (hasEnded = true)).on('error', () => undefined);
    const messages = () =>
      [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data) as { type: string; etag?: string });
    return { response, messages, text: () => text, hasEnded: () => hasEnded };
  };

  it('says when to evaluate again, for what its token can notice, and from the last event on', async () => {
    const address = await addressOf(north);
    expect(address).not.toContain('a-key-of-a-page');
    const stream = await open(address, { origin: 'https://shop.example.org' });
    expect(stream.response.headers).toMatchObject({
      'content-type': expect.stringContaining('text/event-stream'),
      'access-control-allow-origin': '*',
    });
    await eventually(() => expect(stream.messages()).toEqual([{ type: 'connected' }]));
    outbox.write(flag('stream-elsewhere'), flag('stream-here', {}, { project: 'north' }));
    await evaluate('', {}, { 'x-api-key': north });
    await eventually(() => expect(stream.messages()).toHaveLength(2));
    expect(stream.messages()[1]).toEqual({
      type: 'refetchEvaluation',
      etag: expect.stringMatching(/^"\d+"$/),
      lastModified: expect.any(Number),
    });
    const id = /^id: (\d+)$/gm.exec(stream.text().slice(stream.text().lastIndexOf('id: ')))?.[1] ?? '';
    const resumed = await open(address, { 'last-event-id': id });
    await eventually(() => expect(resumed.messages()).toEqual([{ type: 'connected' }]));
    // The ticket is older than the change.
    const again = await open(address);
    await eventually(() => expect(again.messages()).toMatchObject([{ type: 'refetchEvaluation' }]));
    expect(gateway.logged()).not.toContain(address.split('=')[1]);
  });

  it('has one ticket for the clients of a token, and another one after a change that it can notice', async () => {
    const address = await addressOf(north);
    outbox.write(flag('ticket-elsewhere'));
    expect(await addressOf(north)).toBe(address);
    outbox.write(flag('ticket-here', {}, { project: 'north' }));
    const later = await addressOf(north);
    expect(later).not.toBe(address);
    const stream = await open(later);
    await eventually(() => expect(stream.messages()).toEqual([{ type: 'connected' }]));
  });

  it('says to evaluate again after a restore of the database that took back what the client has', async () => {
    const stream = await open(await addressOf(north), { 'last-event-id': '999999' });
    await eventually(() => expect(stream.messages()).toMatchObject([{ type: 'refetchEvaluation' }]));
    expect(stream.text()).not.toContain('999999');
  });

  it('never leads to an evaluation without the change that it announced, also by a gateway that lags', async () => {
    const headers = { 'x-api-key': north };
    const announced = encodeURIComponent(`"${outbox.messages.length + 1}"`);
    const afterEvent = () => send(`${flagsPath}?flagConfigEtag=${announced}`, '{}', headers);
    isProducerAway = true;
    try {
      await eventually(async () =>
        expect((await send(flagsPath, '{}', headers)).headers.has('bunting-stale')).toBe(true),
      );
      const refused = await afterEvent();
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
      // The environment may be newer than what this gateway could read.
      await gateway.givenToken({ token: inNewEnvironment, kind: 'client', environment: 'new' });
      for (const path of ['/api/client/features', '/api/client/delta', '/api/client/streaming'])
        expect((await gateway.send(path, { key: inNewEnvironment })).status).toBe(503);
      const waiting = afterEvent();
      outbox.write(flag('stream-announced', {}, { project: 'north' }));
      isProducerAway = false;
      const { flags } = (await (await waiting).json()) as OfrepBulkEvaluation;
      expect(flags.map(({ key }) => key)).toContain('stream-announced');
    } finally {
      isProducerAway = false;
    }
  });

  it('is refused with a ticket that is forged, malformed or missing, and ends with its token', async () => {
    const address = await addressOf(ending);
    const [path = '', ticket = ''] = address.split('=');
    const [payload = '', signature = ''] = ticket.split('.');
    const forged = Buffer.from(Buffer.from(payload, 'base64url').toString().replace('development', 'production'));
    const statuses = await Promise.all(
      [`${forged.toString('base64url')}.${signature}`, payload, '.', 'x.y', `${ticket}x`, 'x'.repeat(600)].map(
        async (wrong) => (await gateway.send(`${path}=${wrong}`, { key: null })).status,
      ),
    );
    expect(statuses).toEqual([401, 401, 401, 401, 401, 400]);
    expect((await gateway.send('/ofrep/v1/events', { key: null })).status).toBe(400);
    const stream = await open(address);
    await eventually(() => expect(stream.messages()).toHaveLength(1));
    await gateway.database.transaction(({ query }) =>
      query(
        "update api_token set revoked_at = now() where environment = 'development' and kind = 'frontend' and id::text = $1",
        [(JSON.parse(Buffer.from(payload, 'base64url').toString()) as string[])[0]],
      ),
    );
    await eventually(() => expect(stream.hasEnded()).toBe(true));
    expect((await gateway.send(address, { key: null })).status).toBe(401);
  });
});
