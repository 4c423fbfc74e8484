import type { Caller } from '@bunting/contracts';

/** The caller that a valid token or session authenticates, and what the token or session allows. */
export interface Principal {
  readonly caller: Caller;
  readonly mayCallAdminApi: boolean;
  /** whether the caller has a frontend token, which is published with pages, or none */
  readonly isPublic: boolean;
  /** whether the caller has a session, whose cookie a browser also sends with requests of pages of other sites */
  readonly isSession?: true;
  /** milliseconds until the token or session expires; infinite for a token that does not expire */
  readonly expiresInMs: number;
}
