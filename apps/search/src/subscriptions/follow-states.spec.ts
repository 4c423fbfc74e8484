import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type FeatureState, Refusal } from '@bunting/contracts';
import { type Database, openDatabase } from '@bunting/database';
import { type FreshDatabase, freshDatabase } from '@bunting/testing';
import fc from 'fast-check';
import { aFeature, type AnyState, featureGone, featureTold, messagesOf, segmentTold } from '../../test/builders.ts';
import { generatedWorld } from '../../test/generated-searches.ts';
import { type StartedSearch, startSearch } from '../../test/started-search.ts';
import { applyStates } from '../persistence/apply-states.ts';
import { wordsOfText } from '../persistence/word-tables.ts';
import { searchSteps } from '../persistence/tables.ts';

describe('the documents', () => {
  let fresh: FreshDatabase;
  let database: Database;
  beforeAll(async () => {
    fresh = await freshDatabase('states');
    database = await openDatabase({ url: fresh.url, name: 'spec', steps: searchSteps });
  });
  afterAll(async () => {
    await database.close();
    await fresh.drop();
  });
  beforeEach(() =>
    database.transaction(({ query }) => query('truncate feature_document, feature_lookup, feature_tally, segment')),
  );

  const apply = (...states: readonly AnyState[]): Promise<void> =>
    database.transaction((tx) => applyStates(tx, messagesOf(states)));
  const rows = <Row>(text: string): Promise<Row[]> => database.transaction(({ query }) => query<Row>(text));
  const known = () =>
    rows<{ name: string; version: number; type: string | null }>(
      `select name, version, lookup.type from feature_document left join feature_lookup lookup using (name) order by name`,
    );
  /** The words of all features, and what they should be; and of which features the words are not those of its text. */
  const words = async () => ({
    kept: await rows('select word, features from feature_word order by word'),
    counted: await rows(
      'select word, count(*) as features from feature_lookup cross join unnest(words) as word group by word order by word',
    ),
    wrong: await rows(`select name, words from feature_lookup where words <> ${wordsOfText}`),
  });
  /** The lists of statuses and their lengths, and what they should be. */
  const statuses = async () => {
    const counted =
      'select archived, status, count(*) as features from feature_lookup cross join unnest(statuses) as status group by 1, 2 order by 1, 2';
    const listed =
      'select archived, status, created_at, name from feature_lookup cross join unnest(statuses) as status order by 1, 2, 3, 4';
    return {
      kept: await rows('select * from status_tally where features <> 0 order by archived, status'),
      counted: await rows(counted),
      inLists: await rows('select * from feature_status order by archived, status, created_at, name'),
      shouldBe: await rows(listed),
    };
  };
  /** The tally, and what it should be. */
  const tallied = async () => ({
    kept: await rows('select * from feature_tally where features <> 0 order by project, type, stale, archived'),
    counted: await rows(
      'select archived, stale, project, type, count(*) as features from feature_lookup group by 1, 2, 3, 4 order by project, type, stale, archived',
    ),
  });

  it('keep what is newest, whatever comes after it', async () => {
    await apply(featureTold(aFeature({ name: 'a', type: 'release' }), 5));
    await apply(featureTold(aFeature({ name: 'a', type: 'experiment' }), 4));
    await apply(featureTold(aFeature({ name: 'a', type: 'operational' }), 5));
    expect(await known()).toEqual([{ name: 'a', version: 5, type: 'release' }]);
    await apply(featureTold(aFeature({ name: 'a', type: 'kill-switch' }), 6), featureTold(aFeature({ name: 'a' }), 3));
    expect(await known()).toEqual([{ name: 'a', version: 6, type: 'kill-switch' }]);
  });

  it('remember that a feature is gone, until it is told of anew', async () => {
    await apply(featureTold(aFeature({ name: 'a' }), 1), featureGone('a', 3));
    await apply(featureTold(aFeature({ name: 'a' }), 2));
    expect(await known()).toEqual([{ name: 'a', version: 3, type: null }]);
    await apply(featureGone('never-heard-of', 9));
    await apply(featureTold(aFeature({ name: 'a', type: 'permission' }), 4));
    expect(await known()).toEqual([
      { name: 'a', version: 4, type: 'permission' },
      { name: 'never-heard-of', version: 9, type: null },
    ]);
  });

  it('keep the newest name of a segment', async () => {
    await apply(segmentTold(1, 'new', 2), segmentTold(1, 'old', 1), segmentTold(2, 'other', 1));
    await apply(segmentTold(1, 'older', 1), { entity: 'segment', id: '2', version: 2, state: null });
    await apply(segmentTold(2, 'late', 1));
    expect(await rows('select id, version, name from segment order by id')).toEqual([
      { id: 1, version: 2, name: 'new' },
      { id: 2, version: 2, name: null },
    ]);
  });

  it('are the same, and counted right, however often and in whatever order they are told', async () => {
    const world = generatedWorld(12, 4).features;
    const name = (state: FeatureState, index: number) => ({ ...state, name: `f${index % 4}` });
    const states = world.map((state, index) =>
      index % 5 === 4 ? featureGone(`f${index % 4}`, index) : featureTold(name(state, index), index),
    );
    await apply(...states);
    const expected = await rows('select * from feature_lookup order by name');
    expect(expected).toHaveLength(3);
    await fc.assert(
      fc.asyncProperty(
        fc.shuffledSubarray([...states, ...states], { minLength: 12 }).map((told) => [...told, ...states]),
        fc.integer({ min: 1, max: 9 }),
        async (told, batch) => {
          await database.transaction(({ query }) => query('truncate feature_document, feature_lookup, feature_tally'));
          for (let at = 0; at < told.length; at += batch) await apply(...told.slice(at, at + batch));
          expect(await rows('select * from feature_lookup order by name')).toEqual(expected);
          const { kept, counted } = await tallied();
          expect(kept).toEqual(counted);
          const known = await words();
          expect(known.kept).toEqual(known.counted);
          expect(known.wrong).toEqual([]);
          const switched = await statuses();
          expect(switched.kept).toEqual(switched.counted);
          expect(switched.inLists).toEqual(switched.shouldBe);
        },
      ),
      { numRuns: 30 },
    );
  });

  it('refuse a state that is none, whole', async () => {
    const broken = { ...featureTold(aFeature({ name: 'broken' })), state: { name: 'broken' } } as unknown as AnyState;
    await expect(apply(featureTold(aFeature({ name: 'whole' })), broken)).rejects.toThrow(Refusal);
    expect(await known()).toEqual([]);
  });
});

describe('what the features service tells', () => {
  let started: StartedSearch;
  beforeAll(async () => {
    started = await startSearch();
  });
  afterAll(() => started.stop());

  it('is found without what cannot be understood, which is put aside', async () => {
    const broken = { ...featureTold(aFeature({ name: 'broken' })), state: { name: 'broken' } } as unknown as AnyState;
    await started.features.tell(featureTold(aFeature({ name: 'one' })), broken, featureTold(aFeature({ name: 'two' })));
    expect(await started.names({ sortBy: 'name' })).toEqual(['one', 'two']);
    const parked = await started.database.read<{ reason: string }>({
      name: '',
      text: 'select reason from dead_letter',
    });
    expect(parked).toEqual([{ reason: expect.stringContaining('/state') }]);
  });

  it('is found after a thousand features were told of in one go', async () => {
    const many = Array.from({ length: 1_200 }, (_, index) => featureTold(aFeature({ name: `many-${index}` })));
    await started.features.tell(...many);
    expect(await started.search({ query: 'many-', limit: '1' })).toMatchObject({ total: 1_200 });
  });
});
