import type { IncomingHttpHeaders } from 'node:http';
import { type Caller, may, noAccess, type Permission, refusal } from '@bunting/contracts';

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

/** The headers that authenticate a caller. */
export type CredentialHeaders = Pick<IncomingHttpHeaders, 'authorization' | 'cookie'>;

/** Who sends a token that may be unknown. */
export interface Asker {
  /** the address, or the IPv6 network */
  readonly address: string;
  /** @throws Refusal `RateLimitError` while the address has sent too many invalid tokens */
  readonly requireBudget: () => void;
}

/**
 * Returns the principal of the token in the `Authorization` header, or without that header of the session in the cookie.
 * @throws Refusal `AuthenticationRequired` for a missing or invalid token or session; `ServiceUnavailable` where that cannot be told, as SDKs
 * give up for ever on the former
 * @param asker for those that limit how many unknown tokens they ask another service for
 */
export type Authenticate = (headers: CredentialHeaders, asker?: Asker) => Principal | Promise<Principal>;

/** Refuses SDK tokens, which are not for the Admin API. @throws Refusal `NoAccessError` */
export function requireAdminApiAccess({ mayCallAdminApi }: Principal): void {
  if (!mayCallAdminApi)
    throw refusal('NoAccessError', 'invalid token: expected a different token type for this endpoint');
}

/** @throws Refusal `NoAccessError` for a caller without one of the permissions in the project and environment of the path */
export function requirePermission(
  caller: Caller,
  accepted: readonly Permission[],
  { projectId, environment }: { readonly projectId?: string; readonly environment?: string },
): void {
  if (!may(caller, accepted, { project: projectId, environment })) throw noAccess(accepted);
}
