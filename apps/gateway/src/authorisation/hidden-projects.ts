import { type CallResponse, type CallRequest, type Bus, type CallContext, callForResponse } from '@bunting/bus';
import { type AnyOperation, type Caller, isRepeatable, maySee, unavailable } from '@bunting/contracts';

/** Takes the place of the first character. No project has it in its id, and no text that is shown. */
const marker = '\uE0B7';

const markedId = (id: string): string => `${marker}${id.slice(1)}`;

const hiddenProjectIn = (caller: Caller, params: unknown): string | undefined => {
  if (caller.hiddenProjects === undefined) return undefined;
  const { projectId } = params as { readonly projectId?: string };
  return projectId === undefined || maySee(caller, projectId) ? undefined : projectId;
};

const withOriginalId = <T>(value: T, id: string): T =>
  JSON.parse(JSON.stringify(value).replaceAll(markedId(id), id)) as T;

/**
 * Calls the service that answers. A project in the address that the caller may not see is asked for under a name that no project can have:
 * so what comes back is, by construction, what comes back for a project that does not exist, whatever that is for the operation.
 */
const callHidingProjects = async <O extends AnyOperation>(
  bus: Bus,
  operation: O,
  ask: CallRequest<O>,
  context: CallContext,
): Promise<CallResponse> => {
  const hidden = hiddenProjectIn(context.caller, ask.params);
  if (hidden === undefined) return callForResponse(bus, operation, ask, context);
  const params = { ...(ask.params as object), projectId: markedId(hidden) };
  // Nothing is done where nothing is: the key is good for what it was used for while the project could be seen.
  const unkeyed = { ...context, idempotencyKey: undefined };
  const answer = await callForResponse(bus, operation, { ...ask, params } as CallRequest<O>, unkeyed);
  if ('refusal' in answer) return { refusal: withOriginalId(answer.refusal, hidden) };
  return { reply: { ...answer.reply, json: answer.reply.json.replaceAll(markedId(hidden), hidden) } };
};

const hidesMore = (now: Caller, before: Caller): boolean =>
  now.hiddenProjects !== before.hiddenProjects &&
  (now.hiddenProjects ?? []).some((id) => before.hiddenProjects?.includes(id) !== true);

const maxReads = 5;

/**
 * Calls the service that answers, and compares the caller's rights of before and after. A project that became private while a request was
 * being answered may be in the answer: then what only reads is asked again, without that project.
 * @param callerNow returns the caller with the current rights
 * @throws Refusal `ServiceUnavailable` when projects become private faster than that.
 */
export const callWithCurrentRights = async <O extends AnyOperation>(
  bus: Bus,
  operation: O,
  ask: CallRequest<O>,
  context: CallContext,
  callerNow: () => Promise<Caller>,
): Promise<CallResponse> => {
  let { caller } = context;
  for (let reads = 0; reads < maxReads; reads++) {
    const answer = await callHidingProjects(bus, operation, ask, { ...context, caller });
    if (!isRepeatable(operation)) return answer;
    const now = await callerNow();
    if (!hidesMore(now, caller)) return answer;
    caller = now;
  }
  throw unavailable('Which projects are private changes too fast. Please try again.');
};
