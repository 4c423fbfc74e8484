import { implement } from '@bunting/bus';
import { StreamClientFeatures, unavailable } from '@bunting/contracts';

/** Rejects requests until the memory is loaded; `delivery/client-stream.ts` answers them from then on. */
export const streamClientFeaturesEndpoint = () =>
  implement(StreamClientFeatures, async () => {
    throw unavailable('The gateway has not loaded the features yet. Retry after 1 s.');
  });
