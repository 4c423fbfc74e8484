import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { callForResponse } from '@bunting/bus';
import {
  CreateFeature,
  EnableEnvironment,
  GetClientFeature,
  GetClientFeatures,
  GetFrontendFeatures,
  SetStale,
} from '@bunting/contracts';
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

it('keeps as much as it may, and of that what was asked for last', async () => {
  const { length } = (await clientFeaturesCache(reader, 1)(development)).json;
  const roomForTwo = clientFeaturesCache(reader, 2 * length + 100);
  const third = { ...development, inlineSegments: false };
  for (const wanted of [development, production, development, third]) await roomForTwo(wanted);
  expect(await features.statementsOf(() => roomForTwo(development))).toBe(1);
  expect(await features.statementsOf(() => roomForTwo(third))).toBe(1);
  expect(await features.statementsOf(() => roomForTwo(production))).toBe(2);
});

it('keeps what was asked for last also when that alone is too much', async () => {
  const deliveries = clientFeaturesCache(reader, 1);
  await deliveries(development);
  expect(await features.statementsOf(() => deliveries(development))).toBe(1);
  await deliveries(production);
  expect(await features.statementsOf(() => deliveries(development))).toBe(2);
});

it('does not remember that there was none', async () => {
  const deliveries = clientFeaturesCache(reader, 1_000);
  const later = { environment: 'later', inlineSegments: true };
  await expect(deliveries(later)).rejects.toMatchObject({ kind: 'ValidationError' });
  await features.database.transaction(({ query }) =>
    query("insert into environment (name, type, sort_order) values ('later', 'test', 9)"),
  );
  expect(JSON.parse((await deliveries(later)).json)).toMatchObject({ features: [], query: { environment: 'later' } });
});

it('gives the same words for the same content, however much has happened elsewhere', async () => {
  const deliveries = clientFeaturesCache(reader, 1_000);
  const before = await deliveries(development);
  await features.database.transaction(({ query }) =>
    query("insert into outbox (topic, type, payload) values ('event', 'feature-archived', '{}')"),
  );
  expect(await features.statementsOf(async () => expect(await deliveries(development)).toBe(before))).toBe(3);
});

it('gives hundreds of SDKs what has not changed with one statement, and what has changed with three', async () => {
  await features.call(CreateFeature, { params: { projectId: 'default' }, body: { name: 'beacon' } });
  const sdk = callerWith({ permission: 'CLIENT', environment: 'development' });
  /** What all of them are given at once, and the statements that it takes. */
  const poll = async (ifNoneMatch?: readonly string[]) => {
    const given = new Set<string>();
    const one = async () => {
      const answer = await callForResponse(features.bus, GetClientFeatures, {}, { ...contextOf(sdk), ifNoneMatch });
      given.add(JSON.stringify(answer));
    };
    const statements = await features.statementsOf(() => Promise.all(Array.from({ length: 400 }, one)));
    expect(given.size).toBe(1);
    const { reply } = JSON.parse([...given][0] ?? '') as { reply: { json: string; headers: { ETag: string } } };
    return { statements, tag: reply.headers.ETag, size: reply.json.length };
  };
  const first = await poll();
  // Where the events have come to, which of them is the latest, and the answer.
  expect(first.statements).toBe(3);
  expect(first.size).toBeGreaterThan(100);
  const known = [first.tag.slice(1, -1)];
  expect(await poll(known)).toEqual({ statements: 1, tag: first.tag, size: 0 });
  expect(await poll()).toEqual({ ...first, statements: 1 });

  const params = { projectId: 'default', featureName: 'beacon' };
  await features.call(SetStale, { params, body: { features: ['beacon'], stale: true } });
  const changed = await poll(known);
  expect(changed.statements).toBe(3);
  expect(changed.size).toBeGreaterThan(100);
  expect(await features.statementsOf(() => features.call(GetClientFeature, { params, query: {} }, sdk))).toBe(1);
});

it('evaluates features for hundreds of users with one statement, and what has just changed with three', async () => {
  await features.call(CreateFeature, { params: { projectId: 'default' }, body: { name: 'torch' } });
  const params = { projectId: 'default', featureName: 'torch', environment: 'development' };
  await features.call(EnableEnvironment, { params, query: {} });
  const browser = callerWith({ permission: 'FRONTEND', environment: 'development', project: 'default' });
  const on = new Set<string>();
  const ask = async (userId: string) => {
    const { toggles } = await features.call(GetFrontendFeatures, { query: { userId } }, browser);
    for (const { name } of toggles) on.add(name);
  };
  const all = () => Promise.all(Array.from({ length: 400 }, (_, id) => ask(String(id))));
  expect(await features.statementsOf(all)).toBe(3);
  expect([...on]).toEqual(['torch']);
  expect(await features.statementsOf(all)).toBe(1);

  const elsewhere = callerWith({ permission: 'FRONTEND', environment: 'production', project: 'default' });
  expect(await features.call(GetFrontendFeatures, { query: { environment: 'development' } }, elsewhere)).toEqual({
    toggles: [],
  });
  const server = callerWith({ permission: 'CLIENT', environment: 'development' });
  await expect(features.call(GetFrontendFeatures, { query: {} }, server)).rejects.toMatchObject({
    kind: 'NoAccessError',
  });
});
