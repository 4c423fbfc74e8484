import { unavailable } from '@bunting/contracts';

/** Rejects a request of an SDK that came before the features were loaded into memory. */
export const notLoaded = async (): Promise<never> => {
  throw unavailable('The gateway has not loaded the features yet. Retry after 1 s.');
};
