import type { GatewayConfig } from '../config.ts';

/** On stop: milliseconds for requests that are still arriving. */
export const stopArrivalGraceMs = 1_000;

/** On stop: milliseconds for clients to read responses that have started. */
export const stopReadGraceMs = 2_000;

/** Milliseconds that the longest request may take. */
export const maxRequestMs = (config: GatewayConfig): number =>
  Math.max(config.GATEWAY_CALL_TIMEOUT_MS, config.GATEWAY_LARGE_CALL_TIMEOUT_MS);

/** Milliseconds within which `close` ends: the longest request, its arrival and its reading, with a reserve. */
export const httpStopTimeoutMs = (config: GatewayConfig): number =>
  maxRequestMs(config) + 2 * stopArrivalGraceMs + stopReadGraceMs + 5_000;
