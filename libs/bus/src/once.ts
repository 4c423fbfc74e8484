import { type AnyOperation, type Caller, canonicalJson, type RequestOf } from '@bunting/contracts';
import { hash } from 'node:crypto';

/** A write with an `Idempotency-Key`: it is done once, however often it is sent. */
export interface Once {
  /** whose key it is: keys of others mean nothing to it */
  readonly scope: string;
  readonly key: string;
  readonly operation: string;
  /** the same for the same operation with the same parameters and body, however they are written */
  readonly fingerprint: string;
  /** the reply that was stored for it, so that tests can hold it against the one that is given */
  stored?: string;
}

/** A user's keys are the user's, with whatever token they come; a token that acts for nobody has its own. */
const scopeOf = ({ id, tokenId }: Caller): string =>
  id > 0 || tokenId === undefined ? `user ${id}` : `token ${tokenId}`;

export const onceOf = (
  { subject }: AnyOperation,
  { params, query, body }: RequestOf<AnyOperation>,
  { caller, idempotencyKey: key }: { readonly caller: Caller; readonly idempotencyKey?: string | undefined },
): Once | undefined =>
  key === undefined
    ? undefined
    : {
        scope: scopeOf(caller),
        key,
        operation: subject,
        fingerprint: hash('sha256', canonicalJson([subject, params, query, body ?? null])),
      };
