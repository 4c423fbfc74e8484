import type { CallResponse } from '@bunting/bus';
import { type Caller, SearchFeatures } from '@bunting/contracts';
import { eventually, startNats } from '@bunting/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  aFeature,
  deletedFeatureState,
  featureState,
  segmentState,
  stateInEnvironment,
  tagged,
} from '../../test/builders.ts';
import { hostileText } from '../../test/hostile-texts.ts';
import { startedSearch, startSearch } from '../../test/started-search.ts';

function staleness(answer: CallResponse): string | undefined {
  return 'reply' in answer ? answer.reply.headers['Bunting-Stale'] : undefined;
}

describe('a search', () => {
  // No polls: a search pulls what was committed before it.
  const started = startedSearch({ SEARCH_POLL_INTERVAL_MS: '3600000', SEARCH_FRESHNESS_WAIT_MS: '9000' });

  it('finds what was committed before it immediately: a feature, a tag, a switch, a segment name, a deletion', async () => {
    const { features, names, search } = started;
    await features.publish(segmentState(1, 'beta'), featureState(aFeature({ name: 'fresh', segments: [1] })));
    expect(await names({ query: 'FRESH' })).toEqual(['fresh']);
    await features.publish(featureState(aFeature({ name: 'fresh', segments: [1], tags: tagged('simple:new') }), 2));
    expect(await names({ tag: 'INCLUDE:simple:new' })).toEqual(['fresh']);
    const environments = [stateInEnvironment('production', { enabled: true })];
    await features.publish(featureState(aFeature({ name: 'fresh', segments: [1], environments }), 3));
    expect(await names({ status: ['production:enabled'] })).toEqual(['fresh']);
    await features.publish(segmentState(1, 'gamma', 2));
    expect(await search({ segment: 'INCLUDE:gamma' })).toMatchObject({ features: [{ segments: ['gamma'] }], total: 1 });
    await features.publish(deletedFeatureState('fresh', 4));
    expect(await search({ query: 'fresh' })).toEqual({ features: [], total: 0 });
  });

  it('finds each of a hundred features in the search that follows its commit', async () => {
    for (let number = 1; number <= 100; number++) {
      await started.features.publish(featureState(aFeature({ name: `one-by-one-${number}` })));
      expect((await started.search({ query: 'one-by-one', limit: '1' })).total).toBe(number);
    }
  });

  it('finds features by a text of their current description, which `query` does not search', async () => {
    const described = (description: string | null, version: number) =>
      started.features.publish({ ...featureState(aFeature({ name: 'described', description })), version });
    const found = () =>
      Promise.all(
        ['CONTAINS:dark MODE', 'CONTAINS:x, light', 'CONTAINS:gh'].map((description) => started.names({ description })),
      );
    await described('Turns Dark Mode on.', 1);
    expect(await found()).toEqual([['described'], [], []]);
    expect(await started.names({ query: 'dark mode' })).toEqual([]);
    await described('Turns light mode on.', 2);
    expect(await found()).toEqual([[], ['described'], ['described']]);
    await described(null, 3);
    expect(await found()).toEqual([[], [], []]);
  });

  it('returns for each feature whether it is a favourite of the caller', async () => {
    await started.features.publish(featureState(aFeature({ name: 'beloved', favoritedBy: [7] })));
    const kim: Caller = { id: 8, name: 'kim', grants: [] };
    expect(await started.search({ query: 'beloved' })).toMatchObject({ features: [{ favorite: true }] });
    expect(await started.search({ query: 'beloved' }, kim)).toMatchObject({ features: [{ favorite: false }] });
    expect((await started.names({ favoritesFirst: 'true', sortBy: 'name', sortOrder: 'desc' }))[0]).toBe('beloved');
  });

  it('shows and counts only projects that the caller may see', async () => {
    await started.features.publish(
      featureState(aFeature({ name: 'of-the-shop', project: 'shop' })),
      featureState(aFeature({ name: 'of-the-bank', project: 'bank' })),
    );
    const keeper: Caller = { id: 9, name: 'keeper', grants: [], hiddenProjects: ['bank'] };
    const both = await started.search({});
    const seen = await started.search({}, keeper);
    expect(seen.total).toBe((both.total ?? 0) - 1);
    expect(seen.features.map(({ name }) => name)).not.toContain('of-the-bank');
    expect(await started.search({ project: 'IS:shop' }, keeper)).toMatchObject({ total: 1 });
    expect(await started.search({ project: 'IS:bank' }, keeper)).toEqual({ features: [], total: 0 });
    expect(await started.search({ project: 'IS_NOT:shop', query: 'of-the' }, keeper)).toEqual({
      features: [],
      total: 0,
    });
  });

  it('refuses invalid parameters and names them', async () => {
    await expect(started.search({ createdAt: 'IS_BEFORE:2024-02-30' })).rejects.toMatchObject({
      kind: 'ValidationError',
      message:
        'The `/query/createdAt` property must end with a date of the calendar, written YYYY-MM-DD. You sent "IS_BEFORE:2024-02-30".',
      details: [{ path: '/query/createdAt' }],
    });
  });

  it('takes quotes, wildcards and control characters of a text literally', async () => {
    const hostile = `'); drop table feature_document; -- " \\ % _ $1 \u202e 😀`;
    await started.features.publish(featureState(aFeature({ name: 'attacked', tags: tagged(`simple:${hostile}`) })));
    expect(await started.names({ query: hostile })).toEqual(['attacked']);
    expect(await started.names({ tag: `INCLUDE:simple:${hostile}` })).toEqual(['attacked']);
    for (const name of ['project', 'type', 'createdBy'] as const)
      expect(await started.names({ [name]: `IS:${hostile}` })).toEqual([]);
    expect(await started.names({ segment: `INCLUDE:${hostile}` })).toEqual([]);
    expect(await started.names({ status: [`${hostile.replaceAll(':', '')}:enabled`] })).toEqual([]);
    expect(await started.names({ sortBy: `environment:${hostile}`, query: 'attacked' })).toEqual(['attacked']);
  });

  it('returns a result or a ValidationError for any query, and never fails', async () => {
    const parameters = Object.keys(SearchFeatures.query.properties) as (keyof typeof SearchFeatures.query.properties)[];
    const request = fc.dictionary(fc.constantFrom(...parameters), hostileText, { minKeys: 1, maxKeys: 2 });
    let [answered, refused] = [0, 0];
    for (const texts of fc.sample(request, { numRuns: 1_000, seed: 4 })) {
      const { status, ...others } = texts as Record<string, string>;
      const answer = await started.respond({ ...others, ...(status === undefined ? {} : { status: [status] }) });
      if ('reply' in answer) answered++;
      else {
        refused++;
        expect(answer.refusal.kind).toBe('ValidationError');
        const [named] = answer.refusal.error.details ?? [];
        expect(Object.keys(texts).map((name) => `/query/${name}`)).toContain((named as { path?: string }).path);
      }
    }
    expect(answered).toBeGreaterThan(20);
    expect(refused).toBeGreaterThan(50);
  });

  it('returns to each of many concurrent callers everything that was committed before', async () => {
    await started.features.publish(featureState(aFeature({ name: 'searched-by-many' })));
    const found = await Promise.all(Array.from({ length: 50 }, () => started.names({ query: 'searched-by-many' })));
    expect(found).toEqual(Array.from({ length: 50 }, () => ['searched-by-many']));
  });
});

describe('a search while the features service is unavailable', () => {
  const started = startedSearch({ SEARCH_FRESHNESS_WAIT_MS: '100' });

  it('returns the stored documents and their age, and fresh results afterwards', async () => {
    const { features, respond, names } = started;
    await features.publish(featureState(aFeature({ name: 'before' })));
    await eventually(async () => expect(staleness(await respond({}))).toBeUndefined());
    await features.goOffline();
    await eventually(async () => expect(Number(staleness(await respond({})))).toBeGreaterThan(0));
    expect(await names()).toEqual(['before']);
    await features.comeOnline();
    await features.publish(featureState(aFeature({ name: 'after', createdAt: '2026-02-01T00:00:00Z' })));
    await eventually(async () => expect(staleness(await respond({}))).toBeUndefined());
    expect(await names()).toEqual(['before', 'after']);
  });
});

describe('a search over NATS', () => {
  it('finds what was committed before it immediately', async () => {
    const nats = await startNats();
    const started = await startSearch(nats.settings);
    try {
      await started.features.publish(featureState(aFeature({ name: 'from-afar' })));
      expect(await started.search()).toMatchObject({ features: [{ name: 'from-afar' }], total: 1 });
    } finally {
      await started.stop();
      await nats.stop();
    }
  });
});
