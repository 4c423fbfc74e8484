import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, openDatabase, type ReadDatabase } from '@bunting/database';
import { foldForSearch } from '@bunting/contracts';
import { type FreshDatabase, freshDatabase, rowsReadBy } from '@bunting/testing';
import fc from 'fast-check';
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
import { type Misspelling, misspellings, flagName, misspeltQueries } from '../../test/misspelt-queries.ts';
import { parseFeatureQuery, searchTextOf } from './feature-query.ts';
import { applyStates } from '../documents/document-store.ts';
import { postgresFeatureSearch } from './search-store.ts';
import { searchMigrations } from '../migrations/index.ts';
import { splitWords } from './words.ts';

const everyone = { userId: 7, hiddenProjects: [] };

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

describe('fuzzy searches in PostgreSQL', () => {
  let fresh: FreshDatabase;
  let database: Database;
  const flags = 3_000;
  beforeAll(async () => {
    ({ fresh, database } = await openFresh());
    for (let first = 0; first < flags; first += 1_000)
      await teller(database)(
        Array.from({ length: 1_000 }, (_, nth) => featureState(aFeature({ name: flagName(first + nth) }))),
      );
  });
  afterAll(async () => {
    await database.close();
    await fresh.drop();
  });

  it('find the flag that is meant first for 36 of 40 misspelt queries of each kind', async () => {
    const index = postgresFeatureSearch(database);
    const first = new Map<Misspelling, number>(misspellings.map((kind) => [kind, 0]));
    for (const { kind, query, wanted } of misspeltQueries(flags)) {
      const found = await index.search(parseFeatureQuery({ query, fuzzy: 'true', limit: '1' }), everyone);
      const [feature] = JSON.parse(found.features) as { name: string }[];
      if (feature?.name === wanted) first.set(kind, (first.get(kind) ?? 0) + 1);
    }
    for (const [kind, count] of first) expect([kind, count >= 36]).toEqual([kind, true]);
  });

  it('split names and tags into the same words as the rules do', async () => {
    const name = fc.string({ unit: fc.constantFrom(...'aZbYc1-_.~!*()'), minLength: 1, maxLength: 20 });
    const tag = fc.string({ unit: fc.constantFrom(...'aÄ é:-_/😀 ß'), maxLength: 20 });
    const texts = fc.sample(fc.tuple(name, tag), { numRuns: 300, seed: 34 });
    const rows = await database.read<{ words: string[] }>(
      {
        text: `select search_words(name, search_text) as words
          from unnest($1::text[], $2::text[]) with ordinality as given (name, search_text, nth) order by nth`,
      },
      [texts.map(([one]) => one), texts.map(([one, other]) => searchTextOf(one, [other]))],
    );
    expect(rows.map(({ words }) => words)).toEqual(
      texts.map(([one, other]) => [...splitWords(one), ...splitWords(foldForSearch(other))].map(foldForSearch)),
    );
  });
});

describe('a filter that thousands of features match', () => {
  let fresh: FreshDatabase;
  let database: Database;
  const flags = 4_000;
  beforeAll(async () => {
    ({ fresh, database } = await openFresh());
    const flag = (nth: number) => aFeature({ name: flagName(nth), tags: tagged(nth % 2 === 0 ? 't:even' : 't:odd') });
    await teller(database)(Array.from({ length: flags }, (_, nth) => featureState(flag(nth))));
    await database.transaction(({ query }) => query('analyze feature_lookup'));
  });
  afterAll(async () => {
    await database.close();
    await fresh.drop();
  });

  it('reads the features near a page, and not all that match, once these are counted', async () => {
    const sent: { text: string; values: readonly unknown[] }[] = [];
    const recording: ReadDatabase = {
      read: (statement, values = []) => {
        sent.push({ text: statement.text, values });
        return database.read(statement, values);
      },
    };
    const index = postgresFeatureSearch(recording);
    const search = (limit: string) =>
      index.search(parseFeatureQuery({ tag: 'INCLUDE:t:even', sortBy: 'name', limit }), everyone);
    const rowsRead = async (limit: string) => {
      const { total } = await search(limit);
      const { text, values } = sent.at(-1) as (typeof sent)[number];
      return { total, rows: await rowsReadBy(fresh.url, text, values) };
    };
    const counting = await rowsRead('10');
    expect(counting.total).toBe(flags / 2);
    expect(counting.rows).toBeGreaterThanOrEqual(flags / 2);
    const again = await rowsRead('10');
    expect(again.total).toBe(flags / 2);
    expect(again.rows).toBeLessThan(500);
  });
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

  it('sends one statement per search with any filters, and one more for a fuzzy one', async () => {
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
    ])
      expect([request, await statements(request)]).toEqual([request, 1]);
    const fuzzy = { query: 'tow,thre,a b c d e f g h', fuzzy: 'true', segment: 'EXCLUDE_ALL:beta,alpha' };
    expect(await statements(fuzzy)).toBe(2);
  });

  it('counts the features of a filter again only after one has changed, whoever changed it', async () => {
    const index = postgresFeatureSearch(database);
    const totals = async () => {
      const searches = [{}, { offset: '1', sortBy: 'name' }, { type: 'IS_NOT:release' }, { segment: 'INCLUDE:beta' }];
      const found = searches.map((request) => index.search(parseFeatureQuery(request), everyone));
      return (await Promise.all(found)).map(({ total }) => total);
    };
    const sql = (text: string) => database.transaction(({ query }) => query(text));
    expect(await totals()).toEqual([3, 3, 0, 3]);
    expect(await totals()).toEqual([3, 3, 0, 3]);
    await teller(database)([featureState(aFeature({ name: 'four', type: 'experiment' }))]);
    expect(await totals()).toEqual([4, 4, 1, 3]);
    await sql(`delete from feature_lookup where name = 'four'`);
    expect(await totals()).toEqual([3, 3, 0, 3]);
    // A change that nobody numbers is not noticed, so nothing was counted.
    await sql('alter table feature_lookup disable trigger count_lookup_version');
    await sql(`update feature_lookup set type = 'experiment' where name = 'three'`);
    expect(await totals()).toEqual([3, 3, 0, 3]);
    await sql('alter table feature_lookup enable trigger count_lookup_version');
    await sql(`update feature_lookup set type = 'release' where name = 'three'`);
    expect(await totals()).toEqual([3, 3, 0, 3]);
    await teller(database)([deletedFeatureState('four', 2)]);
  });

  it('returns the last pages as they are, also when features have changed since they were counted', async () => {
    const index = postgresFeatureSearch(database);
    const page = async (offset: number) => {
      const request = { sortBy: 'name', offset: `${offset}`, limit: '2' };
      const { features, total } = await index.search(parseFeatureQuery(request), everyone);
      return { names: (JSON.parse(features) as { name: string }[]).map(({ name }) => name), total };
    };
    const { names: all } = { names: [...(await page(0)).names, ...(await page(2)).names] };
    for (const _ of [1, 2]) expect(await page(2)).toEqual({ names: all.slice(2), total: 3 });
    expect(await page(3)).toEqual({ names: [], total: 3 });
    expect(await page(4)).toEqual({ names: [], total: 3 });
    await teller(database)([featureState(aFeature({ name: 'aaa' }))]);
    for (const _ of [1, 2]) expect(await page(2)).toEqual({ names: ['aaa', ...all].slice(2), total: 4 });
    await teller(database)([deletedFeatureState('aaa', 2)]);
    expect(await page(2)).toEqual({ names: all.slice(2), total: 3 });
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
    expect(JSON.parse(features)).toMatchObject([{ name: 'one-of-many' }]);
    await teller(database)([deletedFeatureState('one-of-many', 9)]);
  });
});
