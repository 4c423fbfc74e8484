import type { AnyOperation, Caller, RequestOf } from '@bunting/contracts';
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

/** The value with its keys in one order. How deep it may be nested was bounded when it was read. */
const canonical = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(canonical);
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, canonical(member)]));
};

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
        fingerprint: hash('sha256', JSON.stringify(canonical([subject, params, query, body ?? null]))),
      };
