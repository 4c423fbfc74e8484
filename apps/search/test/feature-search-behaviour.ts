import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newFeatureFieldsFor, type RequestOf, type SearchFeatures, SearchResultFeature } from '@bunting/contracts';
import fc from 'fast-check';
import type { FeatureSearch, SearchCaller } from '../src/search/search-store.ts';
import { parseFeatureQuery } from '../src/search/feature-query.ts';
import {
  aFeature,
  type AnyState,
  deletedFeatureState,
  featureState,
  stateInEnvironment,
  segmentState,
  tagged,
} from './builders.ts';
import { generatedSearch, generatedWorld } from './generated-searches.ts';
import { type Criterion, naiveSearch, type World } from './naive-search.ts';

/** A running index under test. */
export interface StartedIndex {
  readonly index: FeatureSearch;
  /** Applies states. Resolves once searches find them. */
  apply(states: readonly AnyState[]): Promise<void>;
  stop(): Promise<void>;
}

const mia: SearchCaller = { userId: 7, hiddenProjects: [] };
const generatedSearches = 400;

function statesOf({ features, segments }: World): AnyState[] {
  return [
    ...[...segments].map(([id, segment]) => segmentState(id, segment)),
    ...features.map((feature) => featureState(feature)),
  ];
}

function without(tag: string): Criterion {
  return {
    holds: (feature) => !feature.tags.some(({ type, value }) => `${type}:${value}` === tag),
  };
}

function createdBy(...names: readonly string[]): Criterion {
  return { holds: (feature) => names.includes(feature.createdBy.name) };
}

/** The behaviour of a feature search, with and without Meilisearch. */
export function describeFeatureSearch(name: string, start: () => Promise<StartedIndex>): void {
  const searching =
    (engine: () => StartedIndex) =>
    async (request: RequestOf<typeof SearchFeatures>['query'] = {}, searcher = mia) => {
      const { features, total, matches } = await engine().index.search(parseFeatureQuery(request), searcher);
      const found = JSON.parse(features) as SearchResultFeature[];
      return { found, total, matches, names: found.map((feature) => feature.name) };
    };

  describe(`the feature index ${name} against the naive search`, () => {
    const world = generatedWorld(300, 2026);
    let engine: StartedIndex;
    const search = searching(() => engine);

    beforeAll(async () => {
      engine = await start();
      await engine.apply(statesOf(world));
    });
    afterAll(() => engine.stop());

    it(`returns the same for ${generatedSearches} generated searches`, async () => {
      let findsSome = 0;
      await fc.assert(
        fc.asyncProperty(generatedSearch, async ({ query: request, naive, hiddenProjects }) => {
          const { found, total } = await search(request, { userId: naive.userId, hiddenProjects });
          const expected = naiveSearch(world, naive);
          expect({ found, total }).toEqual({ found: expected.features, total: expected.total });
          if (found.length > 0) findsSome++;
        }),
        { numRuns: generatedSearches, seed: 18 },
      );
      expect(findsSome).toBeGreaterThan(generatedSearches / 4);
    });

    it('finds by a misspelt text, page by page, exactly those of its finds that match the other filters', async () => {
      const fuzzy = { query: 'chekcout', fuzzy: 'true', limit: '1000' };
      const similar = new Set(
        (await Promise.all(['true', 'false'].map((archived) => search({ ...fuzzy, archived })))).flatMap(
          ({ names }) => names,
        ),
      );
      expect(similar.size).toBeGreaterThan(100);
      let findsSome = 0;
      for (const { query: request, naive, hiddenProjects } of fc.sample(generatedSearch, { numRuns: 150, seed: 34 })) {
        const { query: _query, fuzzy: _fuzzy, sortBy: _sortBy, favoritesFirst: _first, ...others } = request;
        const filters = { ...others, offset: '0', limit: '1000' };
        const caller = { userId: naive.userId, hiddenProjects };
        const expected = (await search(filters, caller)).names.filter((one) => similar.has(one)).toSorted();
        const { names, total } = await search({ ...filters, ...fuzzy }, caller);
        expect({ filters, names: names.toSorted(), total }).toEqual({
          filters,
          names: expected,
          total: expected.length,
        });
        const pageSize = Math.max(1, Math.ceil(total / 3));
        const pages = await Promise.all(
          [0, 1, 2].map((nth) =>
            search({ ...filters, ...fuzzy, limit: `${pageSize}`, offset: `${nth * pageSize}` }, caller),
          ),
        );
        expect(pages.flatMap((page) => page.names)).toEqual(names);
        if (total > 0) findsSome++;
      }
      expect(findsSome).toBeGreaterThan(50);
    });
  });

  describe(`the feature index ${name}, far from the first page`, () => {
    const world = generatedWorld(2_500, 7);
    let engine: StartedIndex;
    const search = searching(() => engine);

    beforeAll(async () => {
      engine = await start();
      await engine.apply(statesOf(world));
    });
    afterAll(() => engine.stop());

    it.each([
      'createdAt',
      'name',
      'type',
      'lastSeenAt',
      'environment:production',
      'environment:nowhere',
      'reach:production',
    ])('returns the right page of the whole list sorted by %s, near either end', async (sortBy) => {
      const filters = [
        { query: { tag: 'DO_NOT_INCLUDE:simple:red' }, criteria: [without('simple:red')] },
        { query: { createdBy: 'IS_ANY_OF:Mia,mia,100%' }, criteria: [createdBy('Mia', 'mia', '100%')] },
        { query: {}, criteria: [] },
      ];
      for (const { query: request, criteria } of filters) {
        for (const [favoritesFirst, sortOrder] of [
          ['false', 'asc'],
          ['false', 'desc'],
          ['true', 'desc'],
        ] as const) {
          const order = { sortBy, descending: sortOrder === 'desc', favoritesFirst: favoritesFirst === 'true' };
          const naive = { ...order, criteria, archived: false, offset: 0, limit: 10_000, userId: 7 };
          const { features, total } = naiveSearch(world, naive);
          expect(total).toBeGreaterThan(1_200);
          for (const offset of [0, 30, 995, 1_000, total >> 1, total - 31, total - 30, total - 7, total, total + 40]) {
            const page = await search({
              ...request,
              sortBy,
              sortOrder,
              favoritesFirst,
              offset: `${offset}`,
              limit: '30',
            });
            const expected = features.slice(offset, offset + 30).map((feature) => feature.name);
            expect({ offset, names: page.names, total: page.total }).toEqual({ offset, names: expected, total });
          }
        }
      }
    });
  });

  describe(`the feature index ${name}`, () => {
    let engine: StartedIndex;
    const search = searching(() => engine);

    beforeAll(async () => {
      engine = await start();
      await engine.apply([
        segmentState(1, 'beta'),
        segmentState(2, 'alpha'),
        segmentState(3, 'gone soon'),
        featureState(
          aFeature({
            name: 'new-checkout',
            description: 'Pays in one step',
            dependencyType: 'parent',
            impressionData: true,
            lastSeenAt: '2026-01-05T12:00:00.000Z',
            lifecycle: { stage: 'live', enteredStageAt: '2026-01-02T12:00:00.000Z' },
            tags: tagged('simple:payment', 'team:ΟΔΟΣ', 'simple:Ärger'),
            segments: [1, 2, 3],
            favoritedBy: [7],
            environments: [
              stateInEnvironment('production', {
                sortOrder: 2,
                enabled: true,
                rules: [{ name: 'flexibleRollout', share: '25', segments: [1] }],
              }),
              stateInEnvironment('development'),
            ],
          }),
        ),
        featureState(aFeature({ name: 'dark-mode', createdAt: '2026-01-02T00:00:00.000Z', segments: [2] })),
        featureState(aFeature({ name: 'checkout-banner', createdAt: '2026-01-03T00:00:00.000Z' })),
        featureState(aFeature({ name: 'Dark-pattern', createdAt: '2026-01-04T00:00:00.000Z', stale: true })),
      ]);
    });
    afterAll(() => engine.stop());

    it.each<RequestOf<typeof SearchFeatures>['query']>([
      {},
      { query: 'new-checkout' },
      { query: 'new-chekout', fuzzy: 'true' },
      { status: ['production:enabled'] },
      { status: ['production:partial'] },
      { tag: 'INCLUDE:simple:payment' },
      { segment: 'INCLUDE:beta' },
      { project: 'IS:default', type: 'IS:release', createdBy: 'IS:7' },
    ])('returns all properties of a feature, whichever filter finds it: %j', async (query) => {
      const { found } = await search(query);
      const feature = found.find((one) => one.name === 'new-checkout');
      expect(feature).toEqual({
        ...newFeatureFieldsFor('search'),
        name: 'new-checkout',
        type: 'release',
        description: 'Pays in one step',
        dependencyType: 'parent',
        project: 'default',
        stale: false,
        favorite: true,
        impressionData: true,
        createdAt: '2026-01-01T12:00:00.000Z',
        archivedAt: null,
        lastSeenAt: '2026-01-05T12:00:00.000Z',
        createdBy: { id: 7, name: 'Mia', imageUrl: expect.stringContaining('https://gravatar.com/avatar/') },
        tags: tagged('simple:payment', 'team:ΟΔΟΣ', 'simple:Ärger'),
        segments: ['alpha', 'beta', 'gone soon'],
        segmentIds: [2, 1, 3],
        environments: [
          stateInEnvironment('development'),
          {
            ...stateInEnvironment('production', { sortOrder: 2, enabled: true }),
            reach: { extent: 'partial', rules: 1, share: 25, audience: 'segments', segments: [1], variants: 0 },
          },
        ],
        lifecycle: { stage: 'live', enteredStageAt: '2026-01-02T12:00:00.000Z' },
      });
      const ofEarlierFormats = new Set(['variants', 'strategies']);
      const documented = Object.keys(SearchResultFeature.properties).filter((key) => !ofEarlierFormats.has(key));
      expect(Object.keys(feature ?? {}).toSorted()).toEqual(documented.toSorted());
    });

    it('finds text case-insensitively, in a name or in a tag, and never across the two', async () => {
      expect((await search({ query: 'ÄRGER' })).names).toEqual(['new-checkout']);
      expect((await search({ query: 'a\u0308rger' })).names).toEqual(['new-checkout']);
      expect((await search({ query: 'οδοσ' })).names).toEqual(['new-checkout']);
      expect((await search({ query: 'checkoutsimple' })).total).toBe(0);
      expect((await search({ query: 'checkout\u001fsimple' })).total).toBe(0);
    });

    it('filters by every valid day of creation, from the year 0 to the last day of 9999', async () => {
      for (const day of ['0000-01-01', '0001-01-01', '2026-01-03', '9999-12-31']) {
        const before = (await search({ createdAt: `IS_BEFORE:${day}` })).total;
        const since = (await search({ createdAt: `IS_ON_OR_AFTER:${day}` })).total;
        expect([day, before, since]).toEqual([day, ...(day < '2026' ? [0, 4] : day > '2027' ? [4, 0] : [2, 2])]);
      }
    });

    it('finds changes immediately: a segment name, a tag, a switch', async () => {
      await engine.apply([
        segmentState(11, 'early'),
        segmentState(12, 'leaving'),
        featureState(aFeature({ name: 'changing', segments: [11, 12] })),
      ]);
      await engine.apply([segmentState(11, 'late', 2)]);
      expect((await search({ segment: 'INCLUDE:early' })).total).toBe(0);
      expect((await search({ segment: 'INCLUDE:late' })).found[0]?.segments).toEqual(['late', 'leaving']);
      await engine.apply([{ entity: 'segment', id: '12', version: 2, state: null }]);
      expect((await search({ segment: 'INCLUDE:late' })).found[0]?.segments).toEqual(['late']);
      const environments = [stateInEnvironment('staging', { enabled: true })];
      await engine.apply([featureState(aFeature({ name: 'changing', tags: tagged('simple:night'), environments }), 2)]);
      expect((await search({ query: 'NIGHT' })).names).toEqual(['changing']);
      expect((await search({ status: ['staging:enabled'] })).names).toEqual(['changing']);
      expect((await search({ segment: 'INCLUDE:late' })).total).toBe(0);
      await engine.apply([deletedFeatureState('changing', 3)]);
    });

    it('removes a deleted feature, and ignores a late state of it', async () => {
      await engine.apply([featureState(aFeature({ name: 'short-lived' }))]);
      expect((await search({ query: 'short-lived' })).total).toBe(1);
      await engine.apply([deletedFeatureState('short-lived', 3)]);
      await engine.apply([featureState(aFeature({ name: 'short-lived' }), 2)]);
      expect((await search({ query: 'short-lived' })).total).toBe(0);
      expect((await search()).total).toBe(4);
    });

    it('ignores typing errors and the order of words for fuzzy queries only', async () => {
      expect((await search({ query: 'chekcout' })).total).toBe(0);
      const typed = await search({ query: 'chekcout', fuzzy: 'true' });
      expect(typed).toMatchObject({ names: expect.arrayContaining(['new-checkout', 'checkout-banner']), total: 2 });
      expect((await search({ query: 'banner checkuot', fuzzy: 'true' })).names[0]).toBe('checkout-banner');
      expect((await search({ query: 'paymnet', fuzzy: 'true' })).names).toEqual(['new-checkout']);
    });

    it('says of a fuzzy query how each feature matches: exactly or not, and by which parts of its name', async () => {
      const partsOf = async (query: string) => {
        const { names, matches = [] } = await search({ query, fuzzy: 'true', sortBy: 'name' });
        return matches.map(({ isExact, parts }, nth) => [
          isExact,
          ...parts.map(({ start, end }) => names[nth]?.slice(start, end)),
        ]);
      };
      expect(await partsOf('check')).toEqual([
        [true, 'check'],
        [true, 'check'],
      ]);
      expect(await partsOf('banner chekcout')).toEqual([[false, 'checkout', 'banner']]);
      expect(await partsOf('paymnet')).toEqual([[false]]);
      expect(await partsOf('payment')).toEqual([[true]]);
      expect((await search({ query: 'check' })).matches).toBeUndefined();
    });

    it('sorts a fuzzy query by relevance, unless the query has an order', async () => {
      const { names, total } = await search({ query: 'checkout-banner', fuzzy: 'true' });
      expect(names[0]).toBe('checkout-banner');
      expect(total).toBe(names.length);
      const sorted = await search({ query: 'checkout-banner', fuzzy: 'true', sortBy: 'name', sortOrder: 'desc' });
      expect(sorted.names).toEqual(names.toSorted().reverse());
      expect((await search({ query: 'checkout', fuzzy: 'true', type: 'IS:permission' })).total).toBe(0);
      expect((await search({ query: ' , ', fuzzy: 'true' })).total).toBe(4);
    });
  });
}
