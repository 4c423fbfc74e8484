import {
  type AnyOperation,
  type Caller,
  invalid,
  observeChecks,
  type PassedCheck,
  type Refusal,
  refusal,
  type RequestOf,
} from '@bunting/contracts';
import { canonicalJson } from '@bunting/contracts/hashing';
import { hash } from 'node:crypto';

/** A write with an `Idempotency-Key`: it is executed once, however often it is sent. */
export interface IdempotentWrite {
  /** the owner of the key: equal keys of different owners are different keys */
  readonly scope: string;
  readonly key: string;
  readonly operation: string;
  /** equal for the same operation with the same parameters and body, however they are formatted, and from whichever IP address and client */
  readonly fingerprint: string;
  /** checks that the write relied on: a retry gets the stored reply only while the caller still passes all of them */
  readonly passedChecks: PassedCheck[];
  /** the stored reply, which tests compare with the returned one */
  storedReply?: string;
}

/** Keys belong to the user, whichever token is used; a token without a user has keys of its own. */
function scopeOf({ id, tokenId }: Caller): string {
  return id > 0 || tokenId === undefined ? `user ${id}` : `token ${tokenId}`;
}

/** The query without the parameters that the gateway adds, the IP address and headers of the client: a retry may have others. */
function queryWithoutClientData({ http }: AnyOperation, query: RequestOf<AnyOperation>['query']): object {
  const clientData = new Set([http?.address, ...Object.keys(http?.headers ?? {})]);
  return Object.fromEntries(Object.entries((query ?? {}) as object).filter(([name]) => !clientData.has(name)));
}

/** The idempotent write that a request begins; undefined for a request without an `Idempotency-Key`. */
export function idempotentWriteOf(
  operation: AnyOperation,
  { params, query, body }: RequestOf<AnyOperation>,
  { caller, idempotencyKey }: { readonly caller: Caller; readonly idempotencyKey?: string | undefined },
): IdempotentWrite | undefined {
  return idempotencyKey === undefined
    ? undefined
    : {
        scope: scopeOf(caller),
        key: idempotencyKey,
        operation: operation.subject,
        fingerprint: hash(
          'sha256',
          canonicalJson([operation.subject, params, queryWithoutClientData(operation, query), body ?? null]),
        ),
        passedChecks: [],
      };
}

/** A copy of the caller, whose passed checks of permissions are recorded in `write.passedChecks`. */
export function callerRecordingChecks(write: IdempotentWrite, caller: Caller): Caller {
  const recorded = new Set<string>();
  return observeChecks(caller, (passed) => {
    const text = JSON.stringify(passed);
    if (recorded.has(text)) return;
    recorded.add(text);
    write.passedChecks.push(passed);
  });
}

/** The value of `If-Match`: entity tags of which one must be current, or `*` for any. */
export type IfMatch = '*' | readonly string[];

/** 400: `If-Match` for an operation that does not support the header. */
export function unsupportedIfMatch(): Refusal {
  return invalid('The `If-Match` header is not for this operation.', '/headers/if-match');
}

/** The part of a tag before its first dot identifies the version; the rest depends on the reader and the time. */
function versionTag(tag: string): string {
  return tag.split('.', 1)[0] as string;
}

/**
 * Checks an `If-Match`.
 * @param current the tags that match now, the entity's own tag first
 * @throws Refusal `PreconditionFailed` with the current tag
 */
export function requireIfMatch(ifMatch: IfMatch, current: readonly string[]): void {
  if (ifMatch === '*' || ifMatch.some((tag) => current.includes(versionTag(tag)))) return;
  throw refusal(
    'PreconditionFailed',
    'It has changed since it was read: the `If-Match` header names none of its tags. Read it again before you change it.',
    {
      ...(current[0] === undefined ? {} : { tag: current[0] }),
      details: [{ message: 'names none of the current tags', path: '/headers/if-match' }],
    },
  );
}
