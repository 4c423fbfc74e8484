import { afterAll, beforeAll, expect, it } from 'vitest';
import { CreateProject, EnableFeature, ListFeatures, type RequestOf } from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import { aFeature } from '../../test/builders.ts';
import { refusalOf } from '../../test/refusal-of.ts';
import { lee, mia, type StartedFeatures, startFeatures } from '../../test/started-features.ts';

type Query = RequestOf<typeof ListFeatures>['query'];

let features: StartedFeatures;
beforeAll(async () => {
  features = await startFeatures();
  await features.call(CreateProject, { body: { id: 'shop', name: 'shop' } });
});
afterAll(() => features.stop());

const list = async (projectId: string, caller = mia) => features.call(ListFeatures, { params: { projectId } }, caller);

it('lists the active features of a project by name, with all environments', async () => {
  for (const name of ['b', 'B', 'a']) await features.create(name, { tags: [{ type: 'simple', value: 'listed' }] });
  await features.given(
    aFeature({ name: 'c' }),
    aFeature({ name: 'd', project: 'default', archivedAt: '2026-01-02T00:00:00.000Z' }),
  );
  await features.call(EnableFeature, {
    params: { projectId: 'default', featureName: 'a', environment: 'production' },
  });
  const { version, features: listed } = await list('default');
  expect(version).toBe(2);
  expect(listed.map(({ name }) => name)).toEqual(['B', 'a', 'b']);
  expect(listed[1]).toMatchObject({
    type: 'release',
    project: 'default',
    stale: false,
    favorite: false,
    tags: [{ type: 'simple', value: 'listed' }],
    environments: [
      { name: 'development', enabled: false, hasStrategies: false },
      { name: 'production', enabled: true, hasStrategies: true, hasEnabledStrategies: true },
    ],
  });
  expect((await list('shop')).features.map(({ name }) => name)).toEqual(['c']);
});

it('marks the favourites of the caller in the list of features', async () => {
  await features.database.transaction(({ query }) =>
    query(`insert into feature_favorite (feature, user_id) values ('a', $1)`, [lee.id]),
  );
  const favorites = async (caller = mia) =>
    (await list('default', caller)).features.filter(({ favorite }) => favorite).map(({ name }) => name);
  expect(await favorites(lee)).toEqual(['a']);
  expect(await favorites(mia)).toEqual([]);
});

it('lists no features for an unknown project', async () => {
  expect(await list('moon')).toEqual({ version: 2, features: [] });
});

it('filters features by any of the tags and by prefix, ignoring case', async () => {
  const tagged = (name: string, ...values: string[]) =>
    aFeature({ name, project: 'tagged', tags: values.map((value) => ({ type: 'simple', value })) });
  await features.call(CreateProject, { body: { id: 'tagged', name: 'tagged' } });
  await features.given(tagged('one', 'red'), tagged('ONE-more', 'a:b', 'blue'), tagged('100%', 'blue'), tagged('two'));
  const found = async (query: Query) =>
    (await features.call(ListFeatures, { params: { projectId: 'tagged' }, query })).features.map(({ name }) => name);

  expect(await found({ tag: ['simple:red'] })).toEqual(['one']);
  expect(await found({ tag: ['simple:red', 'simple:a:b'] })).toEqual(['ONE-more', 'one']);
  expect(await found({ tag: ['simple:Red', 'colour:red'] })).toEqual([]);
  expect(await found({ namePrefix: 'One' })).toEqual(['ONE-more', 'one']);
  expect(await found({ namePrefix: 'One', tag: ['simple:blue'] })).toEqual(['ONE-more']);
  expect(await found({ namePrefix: '%' })).toEqual([]);
  expect(await found({ namePrefix: '100%' })).toEqual(['100%']);
});

it('lists a page of the matching features of a project', async () => {
  await features.call(CreateProject, { body: { id: 'paged', name: 'paged' } });
  await features.given(...['a-1', 'a-2', 'a-3', 'b-1'].map((name) => aFeature({ name, project: 'paged' })));
  const found = async (query: Query) =>
    (await features.call(ListFeatures, { params: { projectId: 'paged' }, query })).features.map(({ name }) => name);

  expect(await found({ limit: 2 })).toEqual(['a-1', 'a-2']);
  expect(await found({ limit: 2, offset: 2 })).toEqual(['a-3', 'b-1']);
  expect(await found({ offset: 3 })).toEqual(['b-1']);
  expect(await found({ namePrefix: 'A', limit: 2, offset: 1 })).toEqual(['a-2', 'a-3']);
  expect(await found({ limit: 2, offset: 4 })).toEqual([]);
});

it.each<[Query, string]>([
  [{ tag: Array.from({ length: 51 }, () => 'simple:red') }, '/query/tag'],
  [{ namePrefix: 'x'.repeat(101) }, '/query/namePrefix'],
])('refuses %j and names %s', (query, path) => {
  const refusal = refusalOf(() => parse(ListFeatures.query, query, '/query', 'text'));
  expect(refusal).toMatchObject({ kind: 'ValidationError', details: [{ path }] });
});

it.each<[string[], string]>([
  [['simple:red', 'bad'], '/query/tag/1'],
  [[':red'], '/query/tag/0'],
  [['simple:'], '/query/tag/0'],
])('refuses the tags %j and names %s', async (tag, path) => {
  await expect(features.call(ListFeatures, { params: { projectId: 'default' }, query: { tag } })).rejects.toMatchObject(
    { kind: 'ValidationError', details: [{ path }] },
  );
});
