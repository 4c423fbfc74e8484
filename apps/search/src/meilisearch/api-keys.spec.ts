import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { eventually } from '@bunting/testing';
import { aFeature, featureState } from '../../test/builders.ts';
import { type FakeMeilisearch, startFakeMeilisearch } from '../../test/meilisearch/fake-meilisearch.ts';
import { type StartedMeilisearch, startOnFreshDatabase } from '../../test/meilisearch/started-meilisearch.ts';
import { parseFeatureQuery } from '../search/feature-query.ts';

/** What the README says that a key must be allowed. */
const needed = [
  'search',
  'documents.add',
  'documents.get',
  'documents.delete',
  'indexes.create',
  'indexes.delete',
  'indexes.swap',
  'settings.get',
  'settings.update',
  'stats.get',
  'tasks.get',
];
const keys = [
  { key: 'enough', actions: needed, indexes: ['features', 'features_next'] },
  { key: 'for-reading', actions: ['search'], indexes: ['*'] },
];

let standIn: FakeMeilisearch;
let started: StartedMeilisearch | undefined;
beforeAll(async () => {
  standIn = await startFakeMeilisearch({ masterKey: 'a-master-key-of-sixteen-bytes', keys });
});
afterEach(async () => {
  await started?.stop();
});
afterAll(() => standIn.stop());

const mia = { userId: 7, hiddenProjects: [] };

it('Meilisearch is used with the documented actions on two indexes only', async () => {
  started = await startOnFreshDatabase({ url: standIn.url, key: 'enough' });
  await started.apply([featureState(aFeature({ name: 'payment' }))]);
  await started.level();
  const total = async () =>
    (await started?.index.search(parseFeatureQuery({ query: 'paymnet', fuzzy: 'true' }), mia))?.total;
  expect(await total()).toBe(1);
  await started.apply([{ entity: 'feature', id: 'payment', version: 2, state: null }]);
  await started.level();
  expect(await total()).toBe(0);
  expect(started.answers.map(({ engine }) => engine)).toEqual(['meilisearch', 'meilisearch']);
});

it.each([
  ['a wrong key', 'wrong', '403 invalid_api_key'],
  ['a key that may only read', 'for-reading', '403 invalid_api_key'],
  ['no key', undefined, '401 missing_authorization_header'],
])('a warning explains %s, once and without the key', async (_name, key, reason) => {
  started = await startOnFreshDatabase({ url: standIn.url, uid: 'elsewhere', ...(key === undefined ? {} : { key }) });
  const { warnings, index, answers } = started;
  await eventually(() =>
    expect(warnings).toContain(`The update of the index in Meilisearch failed and is retried: it answered ${reason}`),
  );
  await index.search(parseFeatureQuery({ query: 'x', fuzzy: 'true' }), mia);
  expect(answers).toMatchObject([{ engine: 'postgres' }]);
  expect(warnings.filter((warning) => warning.includes(reason))).toHaveLength(1);
  expect(warnings.join()).not.toContain(key ?? 'Bearer');
});
