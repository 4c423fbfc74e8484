import { expect, it } from 'vitest';
import fc from 'fast-check';
import { describeFeatureSearch } from '../../test/feature-search-behaviour.ts';
import { realServer } from '../../test/meilisearch/real-meilisearch.ts';
import { startFakeMeilisearch } from '../../test/meilisearch/fake-meilisearch.ts';
import { startOnFreshDatabase, type StartOptions } from '../../test/meilisearch/started-meilisearch.ts';
import { documentIdOf, featureNameOf } from './index-document.ts';

const engineAt = async (where: StartOptions, leave: () => Promise<void>) => {
  const started = await startOnFreshDatabase(where);
  return {
    index: started.index,
    apply: async (states: Parameters<typeof started.apply>[0]) => {
      await started.apply(states);
      await started.level();
    },
    stop: async () => {
      expect(started.answers.filter(({ engine }) => engine !== 'meilisearch')).toEqual([]);
      await started.stop();
      await leave();
    },
  };
};

// `npm run test:meilisearch` runs the same suite against a real server.
if (process.env['TEST_MEILISEARCH'] === 'real') {
  describeFeatureSearch('with a real Meilisearch', () => {
    const { leave, ...where } = realServer();
    return engineAt(where, leave);
  });
} else {
  describeFeatureSearch('with Meilisearch', async () => {
    const standIn = await startFakeMeilisearch();
    return engineAt({ url: standIn.url }, () => standIn.stop());
  });
}

it('names of features are decoded from document ids only', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (name) => expect(featureNameOf(documentIdOf(name))).toBe(name)),
  );
  for (const id of ['zz', 'FF', 'ff', 'mark', 7, null, undefined, {}]) expect(featureNameOf(id)).toBeUndefined();
});
