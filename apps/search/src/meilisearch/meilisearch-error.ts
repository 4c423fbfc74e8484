/** Why PostgreSQL instead of Meilisearch compared the texts of a fuzzy search. */
export type FallbackReason =
  /** the index is being built */
  | 'building'
  /** the circuit breaker is open */
  | 'open'
  | 'late'
  | 'unreachable'
  /** the server responded with an error */
  | 'refused'
  /** the response violates the protocol */
  | 'garbled';

/** Meilisearch failed, or returned an invalid response. */
export class MeilisearchError extends Error {
  readonly reason: FallbackReason;
  /** of a refusal: Meilisearch's error code */
  readonly code: string | undefined;
  constructor(reason: FallbackReason, message: string, code?: string) {
    super(message);
    this.reason = reason;
    this.code = code;
  }
}
