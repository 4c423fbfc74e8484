/** Why Meilisearch did not answer a search, and PostgreSQL did. */
export type Reason =
  /** the search asks for what Meilisearch cannot tell exactly */
  | 'unable'
  /** the index does not show the last changes yet, or is being built */
  | 'behind'
  /** it failed too often lately, and is left alone for a while */
  | 'open'
  | 'late'
  | 'unreachable'
  /** it answered with an error */
  | 'refused'
  /** it answered what is no answer */
  | 'garbled'
  /** it says itself that it did not look at everything */
  | 'degraded'
  | 'capped'
  /** what it answered is not what is in the table */
  | 'altered';

/** Reasons that lie in the server, and not in the search or in the moment. */
const faults: readonly Reason[] = ['late', 'unreachable', 'refused', 'garbled', 'degraded', 'capped'];

/** Meilisearch has no answer that could be given. */
export class Unanswered extends Error {
  readonly reason: Reason;
  /** of a refusal: Meilisearch's word for it */
  readonly code: string | undefined;
  constructor(reason: Reason, message: string, code?: string) {
    super(message);
    this.reason = reason;
    this.code = code;
  }

  get isFault(): boolean {
    return faults.includes(this.reason);
  }
}
