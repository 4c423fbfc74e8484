import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '@bunting/database';
import { type FreshDatabase, freshDatabase } from '@bunting/testing';
import {
  aFeature,
  type AnyState,
  deletedFeatureState,
  featureState,
  stateInEnvironment,
  messagesOf,
  segmentState,
  tagged,
} from '../../test/builders.ts';
import { describeFeatureSearch } from '../../test/feature-search-behaviour.ts';
import { parseFeatureQuery } from './feature-query.ts';
import { applyStates } from '../documents/document-store.ts';
import { postgresFeatureSearch } from './search-store.ts';
import { searchMigrations } from '../migrations/index.ts';

async function openFresh(): Promise<{ fresh: FreshDatabase; database: Database }> {
  const fresh = await freshDatabase('postgres-index');
  return { fresh, database: await openDatabase({ url: fresh.url, name: 'spec', migrations: searchMigrations }) };
}

function teller(database: Database) {
  return (states: readonly AnyState[]): Promise<void> =>
    database.transaction((tx) => applyStates(tx, messagesOf(states)));
}

describeFeatureSearch('in PostgreSQL', async () => {
  const { fresh, database } = await openFresh();
  return {
    index: postgresFeatureSearch(database),
    apply: teller(database),
    stop: async () => {
      await database.close();
      await fresh.drop();
    },
  };
});

describe('the feature index in PostgreSQL', () => {
  let fresh: FreshDatabase;
  let database: Database;
  beforeAll(async () => {
    ({ fresh, database } = await openFresh());
    const environments = [stateInEnvironment('production', { enabled: true })];
    await teller(database)([
      segmentState(1, 'beta'),
      ...['one', 'two', 'three'].map((name) => featureState(aFeature({ name, segments: [1], environments }))),
    ]);
  });
  afterAll(async () => {
    await database.close();
    await fresh.drop();
  });

  const everyone = { userId: 7, hiddenProjects: [] };

  it('sends one statement per search, with any filters', async () => {
    const index = postgresFeatureSearch(database);
    const statements = async (request: Parameters<typeof parseFeatureQuery>[0]): Promise<number> => {
      const before = database.statements;
      await index.search(parseFeatureQuery(request), everyone);
      return database.statements - before;
    };
    const five = { query: 'o', type: 'IS:release', state: 'IS:active', tag: 'DO_NOT_INCLUDE:a:b', createdBy: 'IS:7' };
    for (const request of [
      {},
      { ...five, favoritesFirst: 'true', sortBy: 'environment:production', offset: '2' },
      { ...five, segment: 'INCLUDE:beta' },
      { query: 'tow,thre,a b c d e f g h', fuzzy: 'true', segment: 'EXCLUDE_ALL:beta,alpha' },
    ])
      expect([request, await statements(request)]).toEqual([request, 1]);
  });

  it('finds one feature with two hundred values of every filter, and with the longest fuzzy query', async () => {
    const createdBy = { id: 70, name: 'Zoe', imageUrl: '' };
    const rare = { type: 'rare', project: 'p7', createdBy, tags: tagged('t:7'), segments: [2] };
    await teller(database)([segmentState(2, 'rarely'), featureState(aFeature({ name: 'one-of-many', ...rare }))]);
    const many = (value: (nth: number) => string): string => Array.from({ length: 199 }, (_, nth) => value(nth)).join();
    const request = {
      project: `IS_ANY_OF:${many((nth) => `p${nth}`)}`,
      type: `IS_ANY_OF:rare,${many((nth) => `type ${nth}`)}`,
      createdBy: `IS_ANY_OF:70,${many((nth) => `person ${nth}`)}`,
      tag: `INCLUDE_ANY_OF:${many((nth) => `t:${nth}`)}`,
      segment: `INCLUDE_ANY_OF:rarely,${many((nth) => `segment ${nth}`)}`,
      query: `one-of,${many((nth) => `text ${nth}`)}`,
    };
    const index = postgresFeatureSearch(database);
    const found = async (query: Parameters<typeof parseFeatureQuery>[0]): Promise<number> =>
      (await index.search(parseFeatureQuery(query), everyone)).total;
    for (const [name, value] of Object.entries(request))
      expect([name, await found({ [name]: value })]).toEqual([name, 1]);
    expect(await found(request)).toBe(1);
    const hostile = ['%_\\', `'"{}`, '\u202e😀', 'ab '.repeat(33), 'naem one xyz '.repeat(7)].join();
    expect(await found({ query: hostile, fuzzy: 'true' })).toBe(0);
    const misspelt = parseFeatureQuery({ query: `${hostile.slice(0, -1)},one-of-mayn`.slice(5), fuzzy: 'true' });
    const { features } = await index.search(misspelt, everyone);
    expect(JSON.parse(features)).toMatchObject([{ name: 'one-of-many' }, { name: 'one' }]);
    await teller(database)([deletedFeatureState('one-of-many', 9)]);
  });
});
