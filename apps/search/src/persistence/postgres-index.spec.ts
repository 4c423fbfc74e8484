import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Database, openDatabase, type Statement } from '@bunting/database';
import { type FreshDatabase, freshDatabase } from '@bunting/testing';
import {
  aFeature,
  type AnyState,
  featureGone,
  featureTold,
  inEnvironment,
  messagesOf,
  segmentTold,
  tagged,
} from '../../test/builders.ts';
import { describeFeatureIndex } from '../../test/feature-index-behaviour.ts';
import { featureQueryOf } from '../query/feature-query.ts';
import { applyStates } from './apply-states.ts';
import { postgresIndex } from './postgres-index.ts';
import { searchSteps } from './tables.ts';

const openFresh = async (): Promise<{ fresh: FreshDatabase; database: Database }> => {
  const fresh = await freshDatabase('postgres-index');
  return { fresh, database: await openDatabase({ url: fresh.url, name: 'spec', steps: searchSteps }) };
};

const teller =
  (database: Database) =>
  (states: readonly AnyState[]): Promise<void> =>
    database.transaction((tx) => applyStates(tx, messagesOf(states)));

describeFeatureIndex('in PostgreSQL', async () => {
  const { fresh, database } = await openFresh();
  return {
    index: postgresIndex(database),
    tell: teller(database),
    stop: async () => {
      await database.close();
      await fresh.drop();
    },
  };
});

describe('the feature index in PostgreSQL, while documents change', () => {
  let fresh: FreshDatabase;
  let database: Database;
  beforeAll(async () => {
    ({ fresh, database } = await openFresh());
    const environments = [inEnvironment('production', { enabled: true })];
    await teller(database)([
      segmentTold(1, 'beta'),
      ...['one', 'two', 'three'].map((name) => featureTold(aFeature({ name, segments: [1], environments }))),
    ]);
  });
  afterAll(async () => {
    await database.close();
    await fresh.drop();
  });

  /** The same database, with something done after each read. */
  const watched = (afterRead: (statement: Statement, values: readonly unknown[]) => Promise<void>): Database => ({
    ...database,
    read: async <Row>(statement: Statement, values: readonly unknown[] = []) => {
      const rows = await database.read<Row>(statement, values);
      await afterRead(statement, values);
      return rows;
    },
  });
  const everyone = { userId: 7, hiddenProjects: [] };

  it('sends one statement for a search, and one more for names of segments or for the words of a text', async () => {
    const index = postgresIndex(database);
    const statements = async (asked: Parameters<typeof featureQueryOf>[0]): Promise<number> => {
      const before = database.statements;
      await index.search(featureQueryOf(asked), everyone);
      return database.statements - before;
    };
    expect(await statements({})).toBe(1);
    const five = { query: 'o', type: 'IS:release', state: 'IS:active', tag: 'DO_NOT_INCLUDE:a:b', createdBy: 'IS:7' };
    expect(await statements({ ...five, favoritesFirst: 'true', sortBy: 'environment:production', offset: '2' })).toBe(
      1,
    );
    expect(await statements({ ...five, segment: 'INCLUDE:beta' })).toBe(2);
    expect(await statements({ query: 'one,two-or-three' })).toBe(2);
    expect(await statements({ query: 'tow,thre,a b c d e f g h', fuzzy: 'true' })).toBe(2);
    expect(await statements({ query: 'tow', fuzzy: 'true', segment: 'INCLUDE:beta' })).toBe(3);
  });

  it('finds one feature among two hundred values of every filter, and by as much as a fuzzy query may hold', async () => {
    const createdBy = { id: 70, name: 'Zoe', imageUrl: '' };
    const rare = { type: 'rare', project: 'p7', createdBy, tags: tagged('t:7'), segments: [2] };
    await teller(database)([segmentTold(2, 'rarely'), featureTold(aFeature({ name: 'one-of-many', ...rare }))]);
    const many = (value: (nth: number) => string): string => Array.from({ length: 199 }, (_, nth) => value(nth)).join();
    const asked = {
      project: `IS_ANY_OF:${many((nth) => `p${nth}`)}`,
      type: `IS_ANY_OF:rare,${many((nth) => `type ${nth}`)}`,
      createdBy: `IS_ANY_OF:70,${many((nth) => `person ${nth}`)}`,
      tag: `INCLUDE_ANY_OF:${many((nth) => `t:${nth}`)}`,
      segment: `INCLUDE_ANY_OF:rarely,${many((nth) => `segment ${nth}`)}`,
      query: `one-of,${many((nth) => `text ${nth}`)}`,
    };
    const index = postgresIndex(database);
    const found = async (query: Parameters<typeof featureQueryOf>[0]): Promise<number> =>
      (await index.search(featureQueryOf(query), everyone)).total;
    for (const [name, value] of Object.entries(asked))
      expect([name, await found({ [name]: value })]).toEqual([name, 1]);
    expect(await found(asked)).toBe(1);
    const hostile = ['%_\\', `'"{}`, '\u202e😀', 'ab '.repeat(33), 'naem one xyz '.repeat(7)].join();
    expect(await found({ query: hostile, fuzzy: 'true' })).toBe(0);
    expect(await found({ query: `${hostile.slice(0, -1)},one-of-mayn`.slice(5), fuzzy: 'true' })).toBe(1);
    await teller(database)([featureGone('one-of-many', 9)]);
  });

  it.each([{ fuzzy: 'true' }, { fuzzy: undefined }])(
    'finds a feature whose word came while words were looked up: %o',
    async ({ fuzzy }) => {
      const name = `a-newcomers-${fuzzy}`;
      let words = 0;
      const growing = watched(async (statement) => {
        if (!['sought-words', 'words-alike'].includes(statement.name ?? '') || words++ > 0) return;
        await teller(database)([featureTold(aFeature({ name }))]);
      });
      const { total, features } = await postgresIndex(growing).search(
        featureQueryOf({ query: 'newcomer', fuzzy }),
        everyone,
      );
      expect([total, features]).toEqual([1, expect.stringContaining(name)]);
      expect(words).toBe(2);
      await teller(database)([featureGone(name, 9)]);
    },
  );

  it('finds a text however often words come while they are looked up', async () => {
    let nth = 0;
    const restless = watched(async ({ name }) => {
      if (name === 'sought-words') await teller(database)([featureTold(aFeature({ name: `restless-word${nth++}` }))]);
    });
    const { total } = await postgresIndex(restless).search(featureQueryOf({ query: 'restless-wor' }), everyone);
    expect(total).toBe(nth);
    expect(nth).toBe(4);
    await teller(database)(Array.from({ length: nth }, (_, at) => featureGone(`restless-word${at}`, 9)));
  });

  it('does not find a segment by a name that it has given up meanwhile', async () => {
    let version = 1;
    const renaming = watched(async ({ name }) => {
      if (name !== 'segments-by-name' || version > 1) return;
      version = 2;
      await teller(database)([segmentTold(1, 'gamma', version)]);
    });
    const query = featureQueryOf({ segment: 'INCLUDE:beta' });
    expect(await postgresIndex(renaming).search(query, everyone)).toEqual({ features: '[]', total: 0 });
    expect(version).toBe(2);
  });

  it('counts once, as long as nothing changes, and anew when something has', async () => {
    const valuesOf: (readonly unknown[])[] = [];
    const index = postgresIndex(watched(async (_statement, values) => void valuesOf.push(values)));
    const query = featureQueryOf({ status: ['production:enabled', 'elsewhere:enabled'], limit: '1' });
    const total = async () => (await index.search(query, everyone)).total;

    expect([await total(), await total()]).toEqual([3, 3]);
    expect(valuesOf[0]).not.toContain(3);
    expect(valuesOf[1]).toContain(3);
    await teller(database)([featureTold(aFeature({ name: 'one', segments: [1] }), 2)]);
    expect(await total()).toBe(2);
    const undone = database.transaction(async (tx) => {
      await applyStates(tx, messagesOf([featureTold(aFeature({ name: 'two' }), 2)]));
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    expect(await total()).toBe(2);
  });
});
