import { type Bus, type CallContext, callForResponse, type CallRequest, type CallResponse } from '@bunting/bus';
import { type AnyOperation, type Caller, isIdempotent, maySee, serviceOf, unavailable } from '@bunting/contracts';
import type { Projection } from '@bunting/outbox';

/** A private-use character that replaces the first character of a project id; it occurs in no project id and in no response. */
const marker = '\uE0B7';

function markedId(id: string): string {
  return `${marker}${id.slice(1)}`;
}

function hiddenProjectIn(caller: Caller, params: unknown): string | undefined {
  if (caller.hiddenProjects === undefined) return undefined;
  const { projectId } = params as { readonly projectId?: string };
  return projectId === undefined || maySee(caller, projectId) ? undefined : projectId;
}

function withOriginalId<T>(value: T, id: string): T {
  return JSON.parse(JSON.stringify(value).replaceAll(markedId(id), id)) as T;
}

/**
 * Calls the service. The id of a project in the path that the caller may not see is replaced by an id that no project can have, so that the
 * response is by construction that for a project that does not exist.
 */
async function callHidingProjects<O extends AnyOperation>(
  bus: Bus,
  operation: O,
  request: CallRequest<O>,
  context: CallContext,
): Promise<CallResponse> {
  const hiddenProject = hiddenProjectIn(context.caller, request.params);
  if (hiddenProject === undefined) return callForResponse(bus, operation, request, context);
  const params = { ...(request.params as object), projectId: markedId(hiddenProject) };
  // No write happens to a project that does not exist: the idempotency key stays bound to the write for which it was used before.
  const withoutIdempotencyKey = { ...context, idempotencyKey: undefined };
  const response = await callForResponse(
    bus,
    operation,
    { ...request, params } as CallRequest<O>,
    withoutIdempotencyKey,
  );
  if ('refusal' in response) return { refusal: withOriginalId(response.refusal, hiddenProject) };
  return { reply: { ...response.reply, json: response.reply.json.replaceAll(markedId(hiddenProject), hiddenProject) } };
}

function hidesMore(current: Caller, previous: Caller): boolean {
  return (
    current.hiddenProjects !== previous.hiddenProjects &&
    (current.hiddenProjects ?? []).some((id) => previous.hiddenProjects?.includes(id) !== true)
  );
}

const maxReads = 5;

interface ContextWithCurrentCaller extends CallContext {
  /** returns the caller with the current rights */
  readonly readCurrentCaller: () => Promise<Caller>;
}

/**
 * Calls the service and compares the caller's rights before and after. A project that became private during a call may be in the response:
 * a read is then repeated with the current rights.
 * @throws Refusal `ServiceUnavailable` when projects become private during each of `maxReads` reads
 */
export async function callWithCurrentRights<O extends AnyOperation>(
  bus: Bus,
  operation: O,
  request: CallRequest<O>,
  { readCurrentCaller, ...context }: ContextWithCurrentCaller,
): Promise<CallResponse> {
  let { caller } = context;
  for (let reads = 0; reads < maxReads; reads++) {
    const response = await callHidingProjects(bus, operation, request, { ...context, caller });
    if (!isIdempotent(operation)) return response;
    const currentCaller = await readCurrentCaller();
    if (!hidesMore(currentCaller, caller)) return response;
    caller = currentCaller;
  }
  throw unavailable('The visibility of projects keeps changing. Please try again.');
}

interface RefreshRightsOptions {
  readonly projects: Pick<Projection, 'catchUp'>;
  readonly invalidateCache: () => void;
  readonly waitMs: number;
}

/**
 * Returns a function that is called after a write, so that the next request is authorised by it: the creator of a project owns it, and a
 * private project is hidden. It waits, at most `waitMs` milliseconds, until the gateway has applied a change of projects, and drops the
 * cached principals after this and after each write of the gateway's own. After a timeout the response is sent nevertheless, because the
 * write is committed.
 */
export function refreshRightsAfterWrite({ projects, invalidateCache, waitMs }: RefreshRightsOptions) {
  return async (operation: AnyOperation): Promise<void> => {
    if (operation.changesProjectVisibility) await projects.catchUp(waitMs);
    else if (serviceOf(operation) !== 'gateway') return;
    invalidateCache();
  };
}
