import { type Caller, type FacetName, facetNames, Refusal } from '@bunting/contracts';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { aFeature, deletedFeatureState, featureState, tagged } from '../../test/builders.ts';
import { hostileText } from '../../test/hostile-texts.ts';
import { startedSearch } from '../../test/started-search.ts';

describe('suggestions', () => {
  // No polls: a request pulls what was committed before it.
  const started = startedSearch({ SEARCH_POLL_INTERVAL_MS: '3600000', SEARCH_FRESHNESS_WAIT_MS: '9000' });
  const names = async (...request: Parameters<typeof started.suggest>) =>
    (await started.suggest(...request)).suggestions.map(({ name }) => name);

  beforeAll(() =>
    started.features.publish(
      featureState(aFeature({ name: 'checkout-banner', type: 'experiment', tags: tagged('team:growth') })),
      featureState(aFeature({ name: 'newCheckout', stale: true })),
      featureState(aFeature({ name: 'new.checkout.flow', project: 'shop', tags: tagged('team:growth', 'team:core') })),
      featureState(aFeature({ name: 'dark_mode', project: 'bank', tags: tagged('simple:größer') })),
      featureState(aFeature({ name: 'checkout-archived', archivedAt: '2026-01-02T00:00:00.000Z' })),
    ),
  );

  it('are the features whose name begins with what was typed, then those with similar words', async () => {
    expect(await names({ query: 'checkout' })).toEqual(['checkout-banner', 'newCheckout', 'new.checkout.flow']);
    expect(await names({ query: 'CHECKOUT-B' })).toEqual(['checkout-banner']);
    expect(await names({ query: 'ne' })).toEqual(['new.checkout.flow', 'newCheckout']);
    expect(await names({ query: 'chekcout', limit: '1' })).toHaveLength(1);
  });

  it.each([
    'newCheckout',
    'new_checkout',
    'new.checkout',
    'new checkout',
    'checkout new',
    'nwe chekcout new',
    'new chec',
  ])('find a name however its words are separated: %s', async (query) => {
    const typed = query.replace('nwe ', '');
    expect((await names({ query: typed })).toSorted()).toEqual(['new.checkout.flow', 'newCheckout']);
  });

  it('find features by a tag, and by a part of a word where no word is like it', async () => {
    expect(await names({ query: 'größe' })).toEqual(['dark_mode']);
    expect(await names({ query: 'growht' })).toEqual(['checkout-banner', 'new.checkout.flow']);
    expect(await names({ query: 'ark_m' })).toEqual(['dark_mode']);
  });

  it('say which parts of a name match', async () => {
    const parts = async (query: string) =>
      (await started.suggest({ query })).suggestions.map(({ name, startsWithQuery, matches }) => ({
        startsWithQuery,
        parts: matches.map(({ start, end }) => name.slice(start, end)),
      }));
    expect(await parts('new.check')).toEqual([
      { startsWithQuery: true, parts: ['new.check'] },
      { startsWithQuery: false, parts: ['newCheck'] },
    ]);
    expect(await parts('core')).toEqual([{ startsWithQuery: false, parts: [] }]);
    const isExact = async (query: string) =>
      (await started.suggest({ query })).suggestions.map((suggestion) => suggestion.isExact);
    expect(await isExact('flow check new')).toEqual([true]);
    expect(await isExact('core')).toEqual([true]);
    expect(await isExact('flow chekcout new')).toEqual([false]);
  });

  it('are of one project on request, and never of projects that are hidden from the caller', async () => {
    const keeper: Caller = { id: 9, name: 'keeper', grants: [], hiddenProjects: ['shop'] };
    expect(await names({ query: 'checkout', project: 'shop' })).toEqual(['new.checkout.flow']);
    expect(await names({ query: 'checkout' }, keeper)).toEqual(['checkout-banner', 'newCheckout']);
    expect(await names({ query: 'flow', project: 'shop' }, keeper)).toEqual([]);
    const { facets } = await started.suggest({ facets: 'project,tags' }, keeper);
    expect(facets?.project?.map(({ value }) => value)).toEqual(['default', 'bank']);
    expect(facets?.tags).toEqual([
      { value: 'simple:größer', count: 1 },
      { value: 'team:growth', count: 1 },
    ]);
  });

  it('count the values of the requested properties, of all features that are found', async () => {
    expect(await started.suggest({ query: 'checkout', limit: '1', facets: facetNames.join() })).toMatchObject({
      suggestions: [{ name: 'checkout-banner' }],
      facets: {
        type: [
          { value: 'release', count: 2 },
          { value: 'experiment', count: 1 },
        ],
        tags: [
          { value: 'team:growth', count: 2 },
          { value: 'team:core', count: 1 },
        ],
        project: [
          { value: 'default', count: 2 },
          { value: 'shop', count: 1 },
        ],
        state: [
          { value: 'active', count: 2 },
          { value: 'stale', count: 1 },
        ],
      },
    });
    expect(await started.suggest({ query: 'checkout' })).not.toHaveProperty('facets');
  });

  it('count what a fuzzy search with the value as a filter finds', async () => {
    const filterOf: { readonly [F in FacetName]: (value: string) => Parameters<typeof started.search>[0] } = {
      type: (value) => ({ type: `IS:${value}` }),
      tags: (value) => ({ tag: `INCLUDE:${value}` }),
      project: (value) => ({ project: `IS:${value}` }),
      state: (value) => ({ state: `IS:${value}` }),
    };
    for (const query of ['', 'checkout', 'chekcout', 'e', 'growht']) {
      const { facets = {} } = await started.suggest({ query, facets: facetNames.join() });
      for (const facet of facetNames)
        for (const { value, count } of facets[facet] ?? []) {
          const { total } = await started.search({ query, fuzzy: 'true', ...filterOf[facet](value) });
          expect([query, facet, value, count]).toEqual([query, facet, value, total]);
        }
    }
  });

  it('are what was committed before the request', async () => {
    const active = async () => (await started.suggest({ facets: 'state' })).facets?.state?.[0]?.count ?? 0;
    const before = await active();
    await started.features.publish(featureState(aFeature({ name: 'just-created' })));
    expect(await active()).toBe(before + 1);
    expect(await active()).toBe(before + 1);
    expect(await names({ query: 'jsut craeted' })).toEqual([]);
    expect(await names({ query: 'craeted' })).toEqual(['just-created']);
    await started.features.publish(deletedFeatureState('just-created', 2));
    expect(await names({ query: 'just' })).toEqual([]);
    expect(await active()).toBe(before);
  });

  it('are refused for invalid parameters, which the error names', async () => {
    for (const [name, text] of [
      ['limit', '0'],
      ['limit', '51'],
      ['facets', 'type,owner'],
      ['query', 'a'.repeat(101)],
    ] as const)
      await expect(started.suggest({ [name]: text })).rejects.toMatchObject({
        kind: 'ValidationError',
        details: [{ path: `/query/${name}` }],
      });
  });

  it('are returned or refused for any text, and a name is found by itself', async () => {
    const texts = [
      'a',
      '😀',
      '\u202eשלום',
      'e\u0301\u0301\u0301',
      `"new" -checkout 'x' OR 1=1 \\ %_`,
      '('.repeat(100),
      'x'.repeat(4_000),
      ...fc.sample(hostileText, { numRuns: 200, seed: 34 }),
    ];
    let answered = 0;
    for (const query of texts)
      try {
        await started.suggest({ query, facets: 'tags' });
        answered++;
      } catch (error) {
        expect(error).toBeInstanceOf(Refusal);
        expect(error).toMatchObject({ kind: 'ValidationError' });
      }
    expect(answered).toBeGreaterThan(50);
    const name = `${'Very-long_Name.'.repeat(6)}of-100-chr`;
    await started.features.publish(featureState(aFeature({ name, tags: tagged(...manyTags) })));
    expect(await names({ query: name })).toEqual([name]);
    expect((await started.suggest({ query: name, facets: 'tags' })).facets?.tags).toHaveLength(100);
    await started.features.publish(deletedFeatureState(name, 2));
  });
});

const manyTags = Array.from({ length: 10_000 }, (_, nth) => `simple:tag-${nth}`);
