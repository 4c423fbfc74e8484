import {
  type AnyOperation,
  type Caller,
  conditionalErrors,
  type ContractVersion,
  contractVersion,
  type ErrorKind,
  errorsOfAnyRequest,
  impliedErrors,
  isIdempotent,
  isRootPermission,
  may,
  noAccess,
  observeChecks,
  operationName,
  permissionsFor,
  Refusal,
  type RequestOf,
  requireMayPropose,
  rootScope,
  serviceOf,
  unavailable,
} from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import { inSpan } from '@bunting/tracing';
import type { Bus, CallContext, CallerSignature, CallResponse, ReceivedContext, Subscription } from './bus.ts';
import { callSpanOptions } from './call.ts';
import {
  callerRecordingChecks,
  type IdempotentWrite,
  idempotentWriteOf,
  requireIfMatch,
  unsupportedIfMatch,
} from './conditional-requests.ts';
import { heavyCallLimit } from './heavy-call-limit.ts';
import { type Endpoint, JsonText, notModified, type OperationRequest } from './implement.ts';
import { presenceResponse, presenceSubject } from './presence.ts';
import { defectRefusal, serializeRefusal } from './refusals.ts';

/** One handled call, as a service logs and measures it. */
export interface ServedCall {
  readonly operation: string;
  readonly outcome: 'ok' | Refusal['kind'];
  /** whether the operation only reads, or may otherwise be repeated without harm */
  readonly repeatable: boolean;
  /** whether the reply of an earlier request with the same `Idempotency-Key` was returned */
  readonly isReplay: boolean;
  readonly durationMs: number;
  readonly caller: Caller;
  /** for a call that was refused because the gateway has not signed its caller: what is wrong with the signature */
  readonly distrusted?: CallerSignature;
  readonly requestId: string;
  readonly traceparent: string;
  /** for a refusal: its id in the response */
  readonly errorId?: string;
  /** for a defect: the thrown error */
  readonly defect?: unknown;
}

export interface ServeOptions {
  /** called after each call */
  readonly observe?: (call: ServedCall) => void;
  /**
   * for tests: a reply that does not match its schema is a defect, and so are an error that the operation does not declare
   * (`undeclaredRefusal`) and a write that succeeds without a check of its permission (`permissionCheckObserver`)
   */
  readonly checkReplies?: boolean;
  /** maximum calls handled concurrently; further calls are refused with `ServiceUnavailable` immediately */
  readonly maxConcurrent?: number;
  /** maximum calls of heavy operations handled concurrently; further ones wait for some seconds */
  readonly maxConcurrentHeavy?: number;
  /** the contract version of the process; that of this release by default */
  readonly version?: ContractVersion;
}

function replyText(operation: AnyOperation, reply: unknown, check: boolean): string {
  const text = reply instanceof JsonText ? reply.text : JSON.stringify(reply ?? null);
  if (!check || reply === notModified) return text;
  try {
    parse(operation.reply, JSON.parse(text), '/reply');
  } catch (fault) {
    throw new Error(`The reply of ${operation.subject} violates its contract: ${(fault as Error).message}`, {
      cause: fault,
    });
  }
  return text;
}

/** A function that checks the request's `If-Match`. An operation that does not support the header refuses it instead of ignoring it. */
function ifMatchCheck({ ifMatch: target }: AnyOperation, { ifMatch }: CallContext) {
  if (ifMatch === undefined) return undefined;
  if (target === undefined) throw unsupportedIfMatch();
  return (current: readonly string[]): void => requireIfMatch(ifMatch, current);
}

/**
 * Whether the caller is to be believed. Operations of the REST API are authorised by the caller, which gateways sign. Between services, the
 * rights of the NATS users decide who calls an operation; there a signature may be missing, as in calls that no request causes.
 */
function isTrusted({ http }: AnyOperation, signature: CallerSignature): boolean {
  return signature === 'valid' || (signature === 'missing' && http === undefined);
}

const distrustOf: Readonly<Record<Exclude<CallerSignature, 'valid'>, string>> = {
  missing: 'no gateway has signed its caller',
  expired: 'the signature of its caller has expired by the clock of this machine',
  invalid: 'its caller is signed with a key that is not among those of this service',
};

/** @throws Error when an operation that sets its entity tag itself has set none: clients would keep their first response forever */
function requirePromisedEntityTag(
  { setsEntityTag, subject }: AnyOperation,
  { ETag }: Readonly<Record<string, string>>,
): void {
  if (setsEntityTag === true && ETag === undefined) throw new Error(`${subject} has set no entity tag of its reply.`);
}

/** @throws Error when the stored reply, which a retry gets, differs from the first reply */
function requireEqualToStored({ subject }: AnyOperation, idempotency: IdempotentWrite | undefined, json: string): void {
  if (idempotency?.storedReply === undefined || idempotency.storedReply === json) return;
  throw new Error(
    `The reply of ${subject} differs from the one stored for its Idempotency-Key: ${idempotency.storedReply}`,
  );
}

/** Serves the endpoints until stopped. A thrown `Refusal` becomes a refusal response; any other error is a defect. */
export async function serve(
  bus: Bus,
  endpoints: readonly Endpoint[],
  {
    observe,
    checkReplies = false,
    maxConcurrent = 512,
    maxConcurrentHeavy = 3,
    version = contractVersion,
  }: ServeOptions = {},
): Promise<Subscription> {
  const heavyCalls = heavyCallLimit({ maxRunning: maxConcurrentHeavy });
  let runningCalls = 0;
  let onIdle: (() => void) | undefined;

  const handle = async (endpoint: Endpoint, request: string, context: ReceivedContext): Promise<CallResponse> => {
    const { operation } = endpoint;
    const { callerSignature } = context;
    const startedAt = performance.now();
    const report = (outcome: ServedCall['outcome'], more: Partial<ServedCall> = {}) =>
      observe?.({
        operation: operationName(operation),
        outcome,
        repeatable: isIdempotent(operation),
        isReplay: false,
        durationMs: performance.now() - startedAt,
        caller: context.caller,
        requestId: context.requestId,
        traceparent: context.traceparent,
        ...more,
      });
    if (runningCalls >= maxConcurrent) {
      const response = serializeRefusal(
        unavailable('The service is handling too many concurrent calls. Please try again.'),
      );
      report('ServiceUnavailable', { errorId: response.error.id });
      return { refusal: response };
    }
    if (callerSignature !== 'valid' && !isTrusted(operation, callerSignature)) {
      const response = serializeRefusal(
        unavailable(`The call of ${operation.subject} was refused: ${distrustOf[callerSignature]}.`),
      );
      report('ServiceUnavailable', { errorId: response.error.id, distrusted: callerSignature });
      return { refusal: response };
    }
    runningCalls++;
    try {
      const headers: Record<string, string> = {};
      const now = new Date();
      const parsed = JSON.parse(request) as RequestOf<AnyOperation>;
      requireRootOrProposerAccess(operation, context.caller, parsed.params);
      const idempotency = idempotentWriteOf(operation, parsed, context);
      const observed = checkReplies ? permissionCheckObserver(operation, context.caller) : undefined;
      const caller = observed?.caller ?? context.caller;
      const operationRequest: OperationRequest<AnyOperation> = {
        params: parsed.params,
        query: parsed.query,
        body: parsed.body,
        caller: idempotency === undefined ? caller : callerRecordingChecks(idempotency, caller),
        now,
        deadline: new Date(now.getTime() + context.timeoutMs),
        signal: context.signal,
        requestId: context.requestId,
        traceparent: context.traceparent,
        idempotency,
        ifMatchTarget: operation.ifMatch,
        requireIfMatch: ifMatchCheck(operation, context),
        matchesIfNoneMatch: (tag) => context.ifNoneMatch === '*' || context.ifNoneMatch?.includes(tag) === true,
        setHeader: (header, value) => {
          headers[header] = value;
        },
        headers,
      };
      const reply = await (operation.isHeavy === true
        ? heavyCalls.run(context.caller, () => endpoint.handle(operationRequest))
        : endpoint.handle(operationRequest));
      requirePromisedEntityTag(operation, headers);
      const json = replyText(operation, reply, checkReplies);
      if (checkReplies) requireEqualToStored(operation, idempotency, json);
      const isReplay = headers['Idempotency-Replayed'] === 'true';
      if (!isReplay) observed?.requireChecked();
      report('ok', { isReplay });
      return { reply: { json, headers } };
    } catch (error) {
      const fault = (checkReplies ? undeclaredRefusal(error, operation, context) : undefined) ?? error;
      const reason = fault instanceof Refusal ? fault : defectRefusal();
      const response = serializeRefusal(reason);
      report(reason.kind, { errorId: response.error.id, ...(reason === fault ? {} : { defect: fault }) });
      return { refusal: response };
    } finally {
      if (--runningCalls === 0) onIdle?.();
    }
  };

  const handleInSpan = (endpoint: Endpoint, request: string, context: ReceivedContext): Promise<CallResponse> =>
    inSpan(callSpanOptions(endpoint.operation, 'server'), context.traceparent, async (span) => {
      const { traceparent } = span ?? context;
      const response = await handle(endpoint, request, { ...context, traceparent });
      if ('refusal' in response) span?.fail(response.refusal.kind);
      return response;
    });

  const subscriptions = await Promise.all(
    endpoints.map((endpoint) =>
      bus.respond(endpoint.operation.subject, (request, context) => handleInSpan(endpoint, request, context)),
    ),
  );
  const services = new Set(endpoints.map(({ operation }) => serviceOf(operation)));
  const respondPresent = async (): Promise<CallResponse> => presenceResponse(version);
  const presence = await Promise.all(
    [...services].map((service) => bus.respond(presenceSubject(service), respondPresent)),
  );
  return {
    stop: async () => {
      // Presence ends first: otherwise a caller would take an operation that is no longer served for one that an older version lacks.
      await Promise.all(presence.map((subscription) => subscription.stop()));
      await Promise.all(subscriptions.map((subscription) => subscription.stop()));
      if (runningCalls > 0) await new Promise<void>((resolve) => (onIdle = resolve));
    },
  };
}

/**
 * Checks of the access that an operation declares what depends on no stored object, so that no endpoint has to: root permissions, which
 * hold in the whole instance, and whether the caller may propose changes in the project of the URL.
 * @throws Refusal `NoAccessError`
 */
function requireRootOrProposerAccess(operation: AnyOperation, caller: Caller, params: unknown): void {
  if (operation.permission === 'proposer')
    return requireMayPropose(caller, (params as { projectId: string }).projectId);
  const permissions = permissionsFor(operation);
  if (permissions.length > 0 && permissions.every(isRootPermission) && !may(caller, permissions, rootScope))
    throw noAccess(permissions);
}

/**
 * Whether only the endpoint can check the permission of a write: the permission may be granted in a project, and the URL, by which the gateway
 * checks permissions, names no project.
 */
export function isCheckedByEndpoint(operation: AnyOperation): boolean {
  return (
    operation.http !== undefined &&
    operation.http.method !== 'GET' &&
    !operation.http.url.includes(':projectId') &&
    permissionsFor(operation).some((permission) => !isRootPermission(permission))
  );
}

/**
 * Observes the permission checks of one call, for `checkReplies`: returns the caller to call the endpoint with, and a function that throws,
 * after the endpoint's success, unless it has checked a permission of the contract.
 */
function permissionCheckObserver(operation: AnyOperation, caller: Caller) {
  const permissions = permissionsFor(operation);
  let isChecked = !isCheckedByEndpoint(operation);
  return {
    caller: observeChecks(caller, (passed) => {
      if ('may' in passed && passed.may.some((permission) => permissions.includes(permission))) isChecked = true;
    }),
    requireChecked: (): void => {
      if (!isChecked)
        throw new Error(`${operation.subject} has succeeded without a check of the permission in its contract.`);
    },
  };
}

function hasConditionalHeader({ idempotencyKey, ifMatch, ifNoneMatch }: CallContext): boolean {
  return idempotencyKey !== undefined || ifMatch !== undefined || ifNoneMatch !== undefined;
}

/**
 * For `checkReplies`: the defect of an endpoint that has thrown a refusal whose kind its operation does not declare in `errors`, so that
 * OpenAPI would not document it. `undefined` for every other thrown value, and for what the document adds to each operation.
 */
function undeclaredRefusal(thrown: unknown, operation: AnyOperation, context: CallContext): Error | undefined {
  if (!(thrown instanceof Refusal)) return undefined;
  const isOfConcurrentWrites = thrown.retryAfterSeconds !== undefined;
  const documented: readonly ErrorKind[] = [
    ...operation.errors,
    ...impliedErrors(operation),
    ...errorsOfAnyRequest,
    ...(isOfConcurrentWrites || hasConditionalHeader(context) ? conditionalErrors(operation) : []),
  ];
  // A defect of a called service is reported there.
  if (thrown.kind === 'InternalError' || documented.includes(thrown.kind)) return undefined;
  return new Error(`${operation.subject} does not declare ${thrown.kind} in its errors: ${thrown.message}`, {
    cause: thrown,
  });
}
