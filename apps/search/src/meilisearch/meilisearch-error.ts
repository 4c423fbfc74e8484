/** Why Meilisearch did not answer a fuzzy search, and PostgreSQL compared the texts. */
export type Reason =
  /** the index is being built */
  | 'building'
  /** the circuit breaker is open */
  | 'open'
  | 'late'
  | 'unreachable'
  /** it answered with an error */
  | 'refused'
  /** it answered something that the protocol does not allow */
  | 'garbled';

/** Meilisearch gave no answer that can be used. */
export class Unanswered extends Error {
  readonly reason: Reason;
  /** of a refusal: Meilisearch's error code */
  readonly code: string | undefined;
  constructor(reason: Reason, message: string, code?: string) {
    super(message);
    this.reason = reason;
    this.code = code;
  }
}
