import { type Unleash, UnleashEvents } from 'unleash-client';

/**
 * Ends an SDK. It drops its listeners, so that a poll which is still under way and fails would be an unhandled error, reported by
 * whichever spec runs then in this process.
 */
export const endSdk = (sdk: Unleash): void => {
  sdk.destroy();
  sdk['repository'].on(UnleashEvents.Error, () => undefined);
};
