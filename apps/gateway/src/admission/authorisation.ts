import { type Bus, type CallContext, callForResponse, type CallRequest, type CallResponse } from '@bunting/bus';
import { type AnyOperation, type Caller, maySee } from '@bunting/contracts';

/** A private-use character that replaces the first character of a project id; it occurs in no project id and in no response. */
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
 * Calls the service. The id of a project in the path that the caller may not see is replaced by an id that no project can have, so that the
 * response is by construction that for a project that does not exist.
 */
export const callHidingProjects = async <O extends AnyOperation>(
  bus: Bus,
  operation: O,
  request: CallRequest<O>,
  context: CallContext,
): Promise<CallResponse> => {
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
};
