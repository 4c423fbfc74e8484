import {
  type ErrorBody,
  type Refusal,
  refusal,
  type RefusalExtras,
  type SignInOptions,
  unavailable,
} from '@bunting/contracts';
import { randomUUID } from 'node:crypto';
import type { CallResponse, RefusalResponse } from './bus.ts';
import { serviceOfSubject } from './presence.ts';

/** Serialises a refusal. Its id is that of the called service, whose log has the details under it, or else a new one. */
export function serializeRefusal(reason: Refusal): RefusalResponse {
  return {
    kind: reason.kind,
    error: {
      id: reason.id ?? randomUUID(),
      name: reason.kind,
      message: reason.message,
      details: [...reason.details],
      ...(reason.permissions === undefined ? {} : { permissions: [...reason.permissions] }),
      ...reason.signInOptions,
    },
    retryAfterSeconds: reason.retryAfterSeconds,
    ...(reason.tag === undefined ? {} : { tag: reason.tag }),
  };
}

function signInOptionsOf({ path, type, defaultHidden, options }: ErrorBody): SignInOptions | undefined {
  return path === undefined || type === undefined || defaultHidden === undefined || options === undefined
    ? undefined
    : { path, type, defaultHidden, options };
}

/** Deserialises the refusal of a response, to be thrown by the calling service. */
export function deserializeRefusal({ kind, error, retryAfterSeconds, tag }: RefusalResponse): Refusal {
  return refusal(kind, error.message, {
    id: error.id,
    details: error.details,
    permissions: error.permissions,
    signInOptions: signInOptionsOf(error),
    retryAfterSeconds,
    tag,
  } satisfies Record<keyof RefusalExtras, unknown>);
}

/**
 * What callers get for a defect. It is no true refusal, but has the form of one, the only error that a response can have: no details, only
 * the id under which the log has them.
 */
export function defectRefusal(): Refusal {
  return refusal(
    'InternalError',
    'Something went wrong inside Bunting. The log has the details under the id of this error.',
  );
}

/*
 * The refusals that the bus itself returns for calls without a response.
 */

function callRefusal(reason: Refusal): CallResponse {
  return { refusal: serializeRefusal(reason) };
}

/** An upgrade takes a while: earlier retries would fail as well. */
const retryAfterUpgradeSeconds = 30;

/** The refusal of a call without a responder. `isServicePresent`: a process of the service runs, so it lacks the operation. */
export function noHandlerRefusal(subject: string, isServicePresent: boolean): CallResponse {
  const service = serviceOfSubject(subject);
  if (!isServicePresent) return callRefusal(unavailable(`No service answers ${subject} now. Please try again.`));
  const operation = subject.split('.').slice(2).join('.');
  const message = `The ${service} service runs an older version, without the operation ${operation}. Upgrade it, and try again.`;
  return { refusal: { ...serializeRefusal(unavailable(message, retryAfterUpgradeSeconds)), isUnsupported: true } };
}

/** The refusal of a call that begins after its deadline. */
export function deadlinePassedRefusal(subject: string): CallResponse {
  return callRefusal(unavailable(`${subject} was not called: its deadline has passed.`));
}

/** The refusal of a call that had no response by its deadline. */
export function timeoutRefusal(subject: string, { isWrite }: { readonly isWrite: boolean }): CallResponse {
  return callRefusal(
    unavailable(
      isWrite
        ? `${subject} did not answer in time. It may or may not have been executed, and will not be executed from now on. Check, and try again.`
        : `${subject} did not answer in time. Please try again.`,
    ),
  );
}

/** The refusal of a call whose responder disappeared before it responded. */
export function responderLostRefusal(subject: string): CallResponse {
  return callRefusal(
    unavailable(
      `The process that handled ${subject} was lost before it answered. The call may or may not have been executed. Check, and try again.`,
    ),
  );
}
