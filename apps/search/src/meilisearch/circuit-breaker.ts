import { MeilisearchError } from './meilisearch-error.ts';

interface CircuitBreakerOptions {
  /** milliseconds that an open circuit lets no request through */
  readonly openMs: number;
  readonly onChange: (isOpen: boolean) => void;
}

/** How many failures in a row open the circuit. */
export const failuresToOpen = 3;

/**
 * A circuit breaker. It opens after `failuresToOpen` failures in a row; when it has been open for `openMs`, one request is let through,
 * whose success closes it. The error that the index is being built does not count as a failure.
 */
export const circuitBreaker = ({ openMs, onChange }: CircuitBreakerOptions) => {
  let failures = 0;
  let retryAt = 0;
  return async <T>(request: () => Promise<T>): Promise<T> => {
    if (failures >= failuresToOpen) {
      if (performance.now() < retryAt) throw new MeilisearchError('circuit-open', 'it failed too often');
      retryAt = performance.now() + openMs;
    }
    try {
      const response = await request();
      if (failures >= failuresToOpen) onChange(false);
      failures = 0;
      return response;
    } catch (error) {
      if (error instanceof MeilisearchError && error.reason !== 'building' && ++failures === failuresToOpen) {
        retryAt = performance.now() + openMs;
        onChange(true);
      }
      throw error;
    }
  };
};
