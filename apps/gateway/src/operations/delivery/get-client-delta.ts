import { implement } from '@bunting/bus';
import { GetClientDelta, unavailable } from '@bunting/contracts';

/** Rejects requests until the memory is loaded; `delivery/client-answers.ts` answers them from then on. */
export const getClientDeltaEndpoint = () =>
  implement(GetClientDelta, async () => {
    throw unavailable('The gateway has not loaded the features yet. Retry after 1 s.');
  });
