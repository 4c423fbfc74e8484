import { type AnyOperation, type Caller, type Granted, observeGrants, type RequestOf } from '@bunting/contracts';
import { canonicalJson } from '@bunting/contracts/hashing';
import { hash } from 'node:crypto';

/** A write with an `Idempotency-Key`: it is done once, however often it is sent. */
export interface IdempotentWrite {
  /** whose key it is: keys of others mean nothing to it */
  readonly scope: string;
  readonly key: string;
  readonly operation: string;
  /** the same for the same operation with the same parameters and body, however they are written */
  readonly fingerprint: string;
  /** what was granted to who asked, while it was done: a retry is given the reply only while all of it still is */
  readonly granted: Granted[];
  /** the reply that was stored for it, so that tests can hold it against the one that is given */
  stored?: string;
}

/** A user's keys are the user's, with whatever token they come; a token that acts for nobody has its own. */
const scopeOf = ({ id, tokenId }: Caller): string =>
  id > 0 || tokenId === undefined ? `user ${id}` : `token ${tokenId}`;

export const idempotentWriteOf = (
  { subject }: AnyOperation,
  { params, query, body }: RequestOf<AnyOperation>,
  { caller, idempotencyKey: key }: { readonly caller: Caller; readonly idempotencyKey?: string | undefined },
): IdempotentWrite | undefined =>
  key === undefined
    ? undefined
    : {
        scope: scopeOf(caller),
        key,
        operation: subject,
        fingerprint: hash('sha256', canonicalJson([subject, params, query, body ?? null])),
        granted: [],
      };

/** The caller of a write that is to be done once: what is granted to them is remembered with it. */
export const recordingGrants = (once: IdempotentWrite, caller: Caller): Caller => {
  const known = new Set<string>();
  return observeGrants(caller, (granted) => {
    const text = JSON.stringify(granted);
    if (known.has(text)) return;
    known.add(text);
    once.granted.push(granted);
  });
};
