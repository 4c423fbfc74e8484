import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { callForResponse } from '@bunting/bus';
import { CreateFeature, GetClientFeature, GetClientFeatures, SetStale } from '@bunting/contracts';
import { type FeaturesWithoutLoops, featuresWithoutLoops } from '../../../test/features-unit-of-work.ts';
import { contextOf, callerWith } from '../../../test/started-features.ts';
import { type ClientFeaturesReader, clientFeaturesReader } from '../../persistence/features/client-features-reader.ts';
import { clientFeaturesCache } from './client-features-cache.ts';

let features: FeaturesWithoutLoops;
let reader: ClientFeaturesReader;
beforeAll(async () => {
  features = await featuresWithoutLoops();
});
afterAll(() => features.stop());
beforeEach(async () => {
  reader = clientFeaturesReader(features.database);
  await reader.revision();
});

const development = { environment: 'development', inlineSegments: true };
const production = { environment: 'production', inlineSegments: true };

it('caches replies up to its size and evicts the least recently used', async () => {
  const { length } = (await clientFeaturesCache(reader, 1)(development)).json;
  const roomForTwo = clientFeaturesCache(reader, 2 * length + 100);
  const third = { ...development, inlineSegments: false };
  for (const wanted of [development, production, development, third]) await roomForTwo(wanted);
  expect(await features.statementsOf(() => roomForTwo(development))).toBe(1);
  expect(await features.statementsOf(() => roomForTwo(third))).toBe(1);
  expect(await features.statementsOf(() => roomForTwo(production))).toBe(2);
});

it('caches the latest reply even if it exceeds the size of the cache', async () => {
  const deliveries = clientFeaturesCache(reader, 1);
  await deliveries(development);
  expect(await features.statementsOf(() => deliveries(development))).toBe(1);
  await deliveries(production);
  expect(await features.statementsOf(() => deliveries(development))).toBe(2);
});

it('does not cache that an environment does not exist', async () => {
  const deliveries = clientFeaturesCache(reader, 1_000);
  const later = { environment: 'later', inlineSegments: true };
  await expect(deliveries(later)).rejects.toMatchObject({ kind: 'ValidationError' });
  await features.database.transaction(({ query }) =>
    query("insert into environment (name, type, sort_order) values ('later', 'test', 9)"),
  );
  expect(JSON.parse((await deliveries(later)).json)).toMatchObject({ features: [], query: { environment: 'later' } });
});

it('returns the identical reply after edits that do not concern it', async () => {
  const deliveries = clientFeaturesCache(reader, 1_000);
  const before = await deliveries(development);
  await features.database.transaction(({ query }) =>
    query("insert into outbox (topic, type, payload) values ('event', 'feature-archived', '{}')"),
  );
  expect(await features.statementsOf(async () => expect(await deliveries(development)).toBe(before))).toBe(3);
});

it('replies to hundreds of SDKs with one statement if nothing changed, and with three otherwise', async () => {
  await features.call(CreateFeature, { params: { projectId: 'default' }, body: { name: 'beacon' } });
  const sdk = callerWith({ permission: 'CLIENT', environment: 'development' });
  /** The replies to all of them concurrently, and the number of statements. */
  const poll = async (ifNoneMatch?: readonly string[]) => {
    const given = new Set<string>();
    const one = async () => {
      const reply = await callForResponse(features.bus, GetClientFeatures, {}, { ...contextOf(sdk), ifNoneMatch });
      given.add(JSON.stringify(reply));
    };
    const statements = await features.statementsOf(() => Promise.all(Array.from({ length: 400 }, one)));
    expect(given.size).toBe(1);
    const { reply } = JSON.parse([...given][0] ?? '') as { reply: { json: string; headers: { ETag: string } } };
    return { statements, tag: reply.headers.ETag, size: reply.json.length };
  };
  const first = await poll();
  // The position of events, the newest of them, and the reply.
  expect(first.statements).toBe(3);
  expect(first.size).toBeGreaterThan(100);
  const existing = [first.tag.slice(1, -1)];
  expect(await poll(existing)).toEqual({ statements: 1, tag: first.tag, size: 0 });
  expect(await poll()).toEqual({ ...first, statements: 1 });

  const params = { projectId: 'default', featureName: 'beacon' };
  await features.call(SetStale, { params, body: { features: ['beacon'], stale: true } });
  const changed = await poll(existing);
  expect(changed.statements).toBe(3);
  expect(changed.size).toBeGreaterThan(100);
  expect(await features.statementsOf(() => features.call(GetClientFeature, { params, query: {} }, sdk))).toBe(1);
});
