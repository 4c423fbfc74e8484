import { type FeatureState, Refusal } from '@bunting/contracts';
import { type Database, openDatabase } from '@bunting/database';
import { type FreshDatabase, freshDatabase } from '@bunting/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  aFeature,
  type AnyState,
  deletedFeatureState,
  featureState,
  messagesOf,
  segmentState,
  tagged,
} from '../../test/builders.ts';
import { generatedWorld } from '../../test/generated-searches.ts';
import { startedSearch } from '../../test/started-search.ts';
import { searchMigrations } from '../migrations/index.ts';
import { acceptStatesAfterRestore, applyStates } from './document-store.ts';

describe('the search documents', () => {
  let fresh: FreshDatabase;
  let database: Database;
  beforeAll(async () => {
    fresh = await freshDatabase('states');
    database = await openDatabase({ url: fresh.url, name: 'spec', migrations: searchMigrations });
  });
  afterAll(async () => {
    await database.close();
    await fresh.drop();
  });
  beforeEach(() =>
    database.transaction(({ query }) => query('truncate feature_document, feature_lookup, feature_change, segment')),
  );

  const apply = (...states: readonly AnyState[]): Promise<void> =>
    database.transaction((tx) => applyStates(tx, messagesOf(states)));
  const rows = <Row>(text: string): Promise<Row[]> => database.transaction(({ query }) => query<Row>(text));
  const known = () =>
    rows<{ name: string; version: number; type: string | null }>(
      `select name, version, lookup.type from feature_document left join feature_lookup lookup using (name) order by name`,
    );
  it('keep the newest state when older ones arrive later', async () => {
    await apply(featureState(aFeature({ name: 'a', type: 'release' }), 5));
    await apply(featureState(aFeature({ name: 'a', type: 'experiment' }), 4));
    await apply(featureState(aFeature({ name: 'a', type: 'operational' }), 5));
    expect(await known()).toEqual([{ name: 'a', version: 5, type: 'release' }]);
    await apply(
      featureState(aFeature({ name: 'a', type: 'kill-switch' }), 6),
      featureState(aFeature({ name: 'a' }), 3),
    );
    expect(await known()).toEqual([{ name: 'a', version: 6, type: 'kill-switch' }]);
  });

  it('store the deletion of a feature until it is created again', async () => {
    await apply(featureState(aFeature({ name: 'a' }), 1), deletedFeatureState('a', 3));
    await apply(featureState(aFeature({ name: 'a' }), 2));
    expect(await known()).toEqual([{ name: 'a', version: 3, type: null }]);
    await apply(deletedFeatureState('never-created', 9));
    await apply(featureState(aFeature({ name: 'a', type: 'permission' }), 4));
    expect(await known()).toEqual([
      { name: 'a', version: 4, type: 'permission' },
      { name: 'never-created', version: 9, type: null },
    ]);
  });

  it('are those of a restored backup of features, although their versions are lower', async () => {
    await apply(featureState(aFeature({ name: 'a', type: 'experiment' }), 9), deletedFeatureState('b', 9));
    await apply(segmentState(1, 'new', 9));
    await database.transaction(acceptStatesAfterRestore);
    await apply(featureState(aFeature({ name: 'a', type: 'release' }), 5), featureState(aFeature({ name: 'b' }), 4));
    await apply(segmentState(1, 'old', 3));
    expect(await known()).toMatchObject([
      { name: 'a', version: 5, type: 'release' },
      { name: 'b', version: 4 },
    ]);
    expect(await rows('select version, name from segment')).toEqual([{ version: 3, name: 'old' }]);
  });

  it('keep the newest name of a segment', async () => {
    await apply(segmentState(1, 'new', 2), segmentState(1, 'old', 1), segmentState(2, 'other', 1));
    await apply(segmentState(1, 'older', 1), { entity: 'segment', id: '2', version: 2, state: null });
    await apply(segmentState(2, 'late', 1));
    expect(await rows('select id, version, name from segment order by id')).toEqual([
      { id: 1, version: 2, name: 'new' },
      { id: 2, version: 2, name: null },
    ]);
  });

  it('are the same for every number and order of deliveries', async () => {
    const world = generatedWorld(12, 4).features;
    const name = (state: FeatureState, index: number) => ({ ...state, name: `f${index % 4}` });
    const states = world.map((state, index) =>
      index % 5 === 4 ? deletedFeatureState(`f${index % 4}`, index) : featureState(name(state, index), index),
    );
    await apply(...states);
    const expected = await rows('select * from feature_lookup order by name');
    expect(expected).toHaveLength(3);
    await fc.assert(
      fc.asyncProperty(
        fc.shuffledSubarray([...states, ...states], { minLength: 12 }).map((delivered) => [...delivered, ...states]),
        fc.integer({ min: 1, max: 9 }),
        async (delivered, batch) => {
          await database.transaction(({ query }) => query('truncate feature_document, feature_lookup'));
          for (let at = 0; at < delivered.length; at += batch) await apply(...delivered.slice(at, at + batch));
          expect(await rows('select * from feature_lookup order by name')).toEqual(expected);
        },
      ),
      { numRuns: 30 },
    );
  });

  it('write a search row only when one of its columns changes, and note only what an index of texts has to follow', async () => {
    const state = aFeature({ name: 'a', tags: tagged('simple:red') });
    const written = () =>
      rows<{ row: string; noted: string | null }>(
        'select l.xmin::text as row, c.changed::text as noted from feature_lookup l left join feature_change c using (name)',
      );
    await apply(featureState(state, 1));
    const first = await written();
    await apply(featureState({ ...state, description: 'more' }, 2));
    expect(await written()).toEqual(first);
    await apply(featureState({ ...state, favoritedBy: [7], lastSeenAt: '2026-01-05T00:00:00.000Z' }, 3));
    const [second] = await written();
    expect(second?.row).not.toBe(first[0]?.row);
    expect(second?.noted).toBe(first[0]?.noted);
    await apply(featureState({ ...state, tags: [] }, 4));
    const [third] = await written();
    expect(third?.noted).not.toBe(first[0]?.noted);
    await apply(deletedFeatureState('a', 5));
    const noted = await rows<{ noted: string }>('select changed::text as noted from feature_change');
    expect(noted.map((each) => each.noted)).not.toContain(third?.noted);
    expect(noted).toHaveLength(1);
  });

  it('refuse an invalid state as a whole', async () => {
    const broken = { ...featureState(aFeature({ name: 'broken' })), state: { name: 'broken' } } as unknown as AnyState;
    await expect(apply(featureState(aFeature({ name: 'whole' })), broken)).rejects.toThrow(Refusal);
    expect(await known()).toEqual([]);
  });
});

describe('a change in the features service', () => {
  const started = startedSearch();

  it('is found although an invalid message became a dead letter', async () => {
    const broken = { ...featureState(aFeature({ name: 'broken' })), state: { name: 'broken' } } as unknown as AnyState;
    await started.features.publish(
      featureState(aFeature({ name: 'valid-1' })),
      broken,
      featureState(aFeature({ name: 'valid-2' })),
    );
    expect(await started.names({ query: 'valid-', sortBy: 'name' })).toEqual(['valid-1', 'valid-2']);
    const deadLetters = await started.database.read<{ reason: string }>({ text: 'select reason from dead_letter' });
    expect(deadLetters).toEqual([{ reason: expect.stringContaining('/state') }]);
  });

  it('is found after a thousand features changed in one transaction', async () => {
    const many = Array.from({ length: 1_200 }, (_, index) => featureState(aFeature({ name: `many-${index}` })));
    await started.features.publish(...many);
    expect(await started.search({ query: 'many-', limit: '1' })).toMatchObject({ total: 1_200 });
  });
});
