import { Refusal } from '@bunting/contracts';

/** Why PostgreSQL instead of Meilisearch compared the texts of a fuzzy search. */
export type FallbackReason =
  /** the index is being built */
  | 'building'
  /** the circuit breaker is open */
  | 'circuit-open'
  | 'timeout'
  | 'unreachable'
  /** the server responded with an error */
  | 'error-response'
  /** the response violates the protocol */
  | 'malformed';

/** Meilisearch failed, or returned an invalid response. */
export class MeilisearchError extends Refusal {
  readonly reason: FallbackReason;
  /** of an error response: Meilisearch's error code */
  readonly code: string | undefined;
  constructor(reason: FallbackReason, message: string, code?: string) {
    super('ServiceUnavailable', message);
    this.reason = reason;
    this.code = code;
  }
}
