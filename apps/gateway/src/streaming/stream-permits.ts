import { refusal, type Refusal } from '@bunting/contracts';
import { concurrencyLimit } from '../admission/concurrency-limit.ts';
import type { QuotaClient } from '../admission/concurrent-requests.ts';
import type { GatewayConfig } from '../config.ts';

const tooMany = (scope: string, limit: number) => (): Refusal =>
  refusal(
    'RateLimitError',
    `There are ${limit} streams ${scope}, which is the limit. Poll instead, or try again later.`,
    { retryAfterSeconds: 60 },
  );

/** Limits the streams of a gateway, of each client, and of each group of clients, which gets half of all streams. */
export const streamPermits = ({
  GATEWAY_MAX_SDK_STREAMS: maxStreams,
  GATEWAY_MAX_SDK_STREAMS_PER_CLIENT: perClient,
}: Pick<GatewayConfig, 'GATEWAY_MAX_SDK_STREAMS' | 'GATEWAY_MAX_SDK_STREAMS_PER_CLIENT'>) => {
  const permits = concurrencyLimit();
  const half = Math.max(1, Math.floor(maxStreams / 2));
  return {
    /** @returns the function that releases the permit. @throws Refusal `RateLimitError` beyond a limit */
    acquire: ({ id, group }: QuotaClient) =>
      permits.acquire([
        { key: 'all clients', limit: maxStreams, refuse: tooMany('of this gateway', maxStreams) },
        { key: `client ${id}`, limit: perClient, refuse: tooMany('of this key', perClient) },
        ...(group === undefined ? [] : [{ key: group, limit: half, refuse: tooMany(`with ${group}`, half) }]),
      ]),
  };
};
