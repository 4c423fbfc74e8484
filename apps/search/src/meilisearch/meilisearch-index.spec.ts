import { describeFeatureIndex } from '../../test/feature-index-behaviour.ts';
import { realServer } from '../../test/meilisearch/real-server.ts';
import { startMeilisearchStandIn } from '../../test/meilisearch/stand-in.ts';
import { startOnFreshDatabase, type StartOptions } from '../../test/meilisearch/started.ts';

const engineAt = async (where: StartOptions, leave: () => Promise<void>) => {
  const started = await startOnFreshDatabase(where);
  return {
    index: started.index,
    tell: async (states: Parameters<typeof started.apply>[0]) => {
      await started.apply(states);
      await started.level();
    },
    stop: async () => {
      await started.stop();
      await leave();
    },
  };
};

// `npm run test:meilisearch` runs the same suite against a real server.
if (process.env['TEST_MEILISEARCH'] === 'real') {
  describeFeatureIndex('in a real Meilisearch', () => {
    const { leave, ...where } = realServer();
    return engineAt(where, leave);
  });
} else {
  describeFeatureIndex('in Meilisearch', async () => {
    const standIn = await startMeilisearchStandIn();
    return engineAt({ url: standIn.url }, () => standIn.stop());
  });
}
