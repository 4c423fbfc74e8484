import type { FrontendFeatures } from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { beforeAll, expect, it } from 'vitest';
import { aSetting, aStrategy, deliveryOutbox, featureRow, givenRows, segmentRow } from '@bunting/delivery/test';
import { startGateway, startedGateway } from '../started-gateway.ts';

const secret = (projects: string, environment: string): string => `${projects}:${environment}.a-key-of-a-page`;
const [everything, north, production] = [
  secret('*', 'development'),
  secret('north', 'development'),
  secret('*', 'production'),
];
const json = { 'content-type': 'application/json' };

const outbox = deliveryOutbox();

const gateway = startedGateway();
beforeAll(async () => {
  outbox.write(...givenRows('default', 'north'));
  await gateway.behind([outbox.endpoint], { checkReplies: true });
  const frontend = { kind: 'frontend', environment: 'development' } as const;
  await gateway.givenToken({ ...frontend, token: everything });
  await gateway.givenToken({ ...frontend, token: north, projects: ['north'] });
  await gateway.givenToken({ ...frontend, token: production, environment: 'production' });
  await gateway.givenToken({ kind: 'client', token: secret('*', 'client'), environment: 'development' });
  await eventually(async () => expect((await send('')).status).toBe(200));
});

const send = (query: string, key = everything, headers: Record<string, string> = {}) =>
  gateway.send(`/api/frontend${query}`, { key, headers });
const post = (context: object, key = everything, query = '') =>
  gateway.send(`/api/frontend${query}`, { method: 'POST', key, headers: json, body: JSON.stringify({ context }) });
const namesIn = async (response: Response): Promise<string[]> => {
  const { toggles } = (await response.json()) as FrontendFeatures;
  return toggles.map(({ name }) => name);
};
/** A feature that is on where a field of the context has one of these values. */
const featureFor = (name: string, contextName: string, ...values: string[]) => {
  const constraints = [{ contextName, operator: 'IN', values }];
  return featureRow(name, {
    environments: { development: aSetting({ strategies: [{ ...aStrategy(), constraints }] as never }) },
  });
};

it('evaluates every parameter of the query as a context field, and the address of the client, which none overrides', async () => {
  outbox.write(
    featureFor('plan', 'plan', 'pro'),
    featureFor('own-member', 'toString', 'x'),
    featureFor('constructed', 'constructor', 'y'),
    featureFor('prototype', '__proto__', 'z'),
    featureFor('address', 'remoteAddress', '127.0.0.1'),
    featureFor('user', 'userId', '8'),
  );
  const query = 'properties%5Bplan%5D=pro&toString=x&constructor=y&callerAddress=10.0.0.1';
  expect(await namesIn(await send(`?${query}`))).toEqual(['address', 'constructed', 'own-member', 'plan']);
  const twice = await send('?plan=a&plan=b');
  expect([twice.status, await twice.json()]).toMatchObject([400, { details: [{ path: '/query/plan' }] }]);
  const context = { properties: { plan: 'pro' }, constructor: 'y' };
  expect(await namesIn(await post(context, everything, '?callerAddress=10.0.0.1&userId=8'))).toEqual([
    'address',
    'constructed',
    'plan',
  ]);
});

it('evaluates each change of a feature, of a segment and of a parent from the next request on', async () => {
  const on = async (query = '') => (await namesIn(await send(query))).filter((name) => name.startsWith('changing'));
  const strategies = [aStrategy([7])];
  outbox.write(
    segmentRow(7, 'ada'),
    featureRow('changing', { environments: { development: aSetting({ strategies }) } }),
    featureRow('changing-child', { dependencies: [{ feature: 'changing', enabled: true }] } as never),
  );
  expect([await on('?userId=ada'), await on('?userId=bob')]).toEqual([['changing', 'changing-child'], []]);
  outbox.write(segmentRow(7, 'bob'));
  expect([await on('?userId=ada'), await on('?userId=bob')]).toEqual([[], ['changing', 'changing-child']]);
  outbox.write({ entity: 'segment', id: '7', state: null });
  expect(await on('?userId=bob')).toEqual([]);
  outbox.write(featureRow('changing', { impressionData: true }));
  const { toggles } = (await (await send('')).json()) as FrontendFeatures;
  expect(toggles.find(({ name }) => name === 'changing')).toEqual({
    name: 'changing',
    enabled: true,
    impressionData: true,
    variant: { name: 'disabled', enabled: false, feature_enabled: true, featureEnabled: true },
  });
  outbox.write({ entity: 'feature', id: 'changing', state: { name: 'changing', project: 'default', archived: true } });
  expect(await on()).toEqual([]);
});

it('evaluates what the projects and the environment of the token give access to, whatever the request names', async () => {
  const [on, off] = [aSetting(), aSetting({ enabled: false })];
  outbox.write(
    featureRow('scoped-north', { project: 'north', environments: { development: on, production: off } }),
    featureRow('scoped-production', { environments: { production: on } }),
  );
  const scoped = async (key: string) => {
    const [names] = await Promise.all([send('?environment=development', key).then(namesIn)]);
    return names.filter((name) => name.startsWith('scoped'));
  };
  expect([await scoped(everything), await scoped(north), await scoped(production)]).toEqual([
    ['scoped-north'],
    ['scoped-north'],
    ['scoped-production'],
  ]);
  const server = await send('', secret('*', 'client'));
  expect([server.status, await server.json()]).toMatchObject([403, { name: 'NoAccessError' }]);
  const nowhere = await gateway.send('/api/frontend?environment=nowhere');
  expect([nowhere.status, await nowhere.text()]).toEqual([400, expect.stringContaining('nowhere')]);
});

it('responds 304 while the result for the user is the same, whatever else changes', async () => {
  outbox.write(featureFor('tagged', 'userId', 'ada'));
  const tagFor = async (userId: string) => (await send(`?userId=${userId}`)).headers.get('etag') ?? '';
  const [ada, bob] = [await tagFor('ada'), await tagFor('bob')];
  expect(ada).not.toBe(bob);
  outbox.write(featureFor('tagged', 'userId', 'ada', 'cleo'));
  const statuses = async (tag: string) =>
    Promise.all(
      ['ada', 'bob', 'cleo'].map(
        async (id) => (await send(`?userId=${id}`, everything, { 'if-none-match': tag })).status,
      ),
    );
  expect([await statuses(ada), await statuses(bob)]).toEqual([
    [304, 200, 304],
    [200, 304, 200],
  ]);
});

it('evaluates for many users while one read of the outbox gets no response, and shares it among them', async () => {
  const impatient = await startGateway({ environment: { GATEWAY_DELIVERY_WAIT_TIMEOUT_MS: '100' } });
  const slowOutbox = deliveryOutbox();
  slowOutbox.write(...givenRows('default'));
  await impatient.behind([slowOutbox.endpoint], { checkReplies: true });
  const sendTo = (query: string) => impatient.send(`/api/frontend${query}`, { key: everything });
  await impatient.givenToken({ kind: 'frontend', environment: 'development', token: everything });
  await eventually(async () => expect((await sendTo('')).status).toBe(200));
  const before = slowOutbox.calls();
  const release = slowOutbox.hold();
  const responses = await Promise.all(Array.from({ length: 200 }, (_, id) => sendTo(`?userId=${id}`)));
  const reads = slowOutbox.calls() - before;
  release();
  await impatient.stop();
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
  expect(reads).toBeLessThan(20);
});
