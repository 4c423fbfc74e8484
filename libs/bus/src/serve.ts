import {
  type AnyOperation,
  type Caller,
  invalid,
  isIdempotent,
  nameOf,
  Refusal,
  type RequestOf,
  serviceOf,
  unavailable,
} from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import type { CallResponse, Bus, CallContext, Subscription } from './bus.ts';
import { type Endpoint, JsonText, notModified } from './implement.ts';
import { type IdempotentWrite, idempotentWriteOf, recordingGrants } from './idempotent-write.ts';
import { requireMatch } from './precondition.ts';
import { presenceSubject } from './presence.ts';
import { internalError, refusalResponse } from './refusal-response.ts';

/** One call, answered: what a service logs and measures of it. */
export interface ServedCall {
  readonly operation: string;
  readonly outcome: 'ok' | Refusal['kind'];
  /** whether the operation only reads, or may otherwise be repeated without harm */
  readonly repeatable: boolean;
  readonly durationMs: number;
  readonly caller: Caller;
  readonly requestId: string;
  readonly traceparent: string;
  /** of a refusal: the id that the answer names */
  readonly errorId?: string;
  /** of a defect: what was thrown */
  readonly defect?: unknown;
}

export interface ServeOptions {
  /** told of every call once it is answered */
  readonly observe?: (served: ServedCall) => void;
  /** hold every reply to its schema: a reply that breaks it is a defect. On in tests. */
  readonly checkReplies?: boolean;
  /** calls handled at once; more are refused with `ServiceUnavailable` at once, before they pile up */
  readonly maxConcurrent?: number;
}

const replyText = (operation: AnyOperation, reply: unknown, check: boolean): string => {
  const text = reply instanceof JsonText ? reply.text : JSON.stringify(reply ?? null);
  if (!check || reply === notModified) return text;
  try {
    parse(operation.reply, JSON.parse(text), '/reply');
  } catch (fault) {
    throw new Error(`${operation.subject} replied what its contract does not allow: ${(fault as Error).message}`, {
      cause: fault,
    });
  }
  return text;
};

/** A condition that cannot be judged is not passed over: what was meant to be safe would be done all the same. */
const requireMatchOf = ({ ifMatch: conditional }: AnyOperation, { ifMatch }: CallContext) => {
  if (ifMatch === undefined) return undefined;
  if (conditional === undefined) throw invalid('The `If-Match` header is not for this operation.', '/headers/if-match');
  return (current: readonly string[]): void => requireMatch(ifMatch, current);
};

/** What a retry will be given must be what the first was given. */
const requireStored = ({ subject }: AnyOperation, idempotency: IdempotentWrite | undefined, json: string): void => {
  if (idempotency?.stored === undefined || idempotency.stored === json) return;
  throw new Error(`${subject} replies other than what it stored for its Idempotency-Key: ${idempotency.stored}`);
};

/** Answers the calls of the endpoints until stopped. What they throw becomes a refusal; what is no refusal is a defect. */
export const serve = async (
  bus: Bus,
  served: readonly Endpoint[],
  { observe, checkReplies = false, maxConcurrent = 512 }: ServeOptions = {},
): Promise<Subscription> => {
  let running = 0;
  let idle: (() => void) | undefined;

  const answer = async (endpoint: Endpoint, request: string, context: CallContext): Promise<CallResponse> => {
    const { operation } = endpoint;
    const startedAt = performance.now();
    const tell = (outcome: ServedCall['outcome'], more: Partial<ServedCall> = {}) =>
      observe?.({
        operation: nameOf(operation),
        outcome,
        repeatable: isIdempotent(operation),
        durationMs: performance.now() - startedAt,
        caller: context.caller,
        requestId: context.requestId,
        traceparent: context.traceparent,
        ...more,
      });
    if (running >= maxConcurrent) {
      const refused = refusalResponse(
        unavailable('The service has more to do than it can take on now. Please try again.'),
      );
      tell('ServiceUnavailable', { errorId: refused.error.id });
      return { refusal: refused };
    }
    running++;
    try {
      const headers: Record<string, string> = {};
      const now = new Date();
      const asked = JSON.parse(request) as RequestOf<AnyOperation>;
      const idempotency = idempotentWriteOf(operation, asked, context);
      const reply = await endpoint.handle({
        params: asked.params,
        query: asked.query,
        body: asked.body,
        caller: idempotency === undefined ? context.caller : recordingGrants(idempotency, context.caller),
        now,
        deadline: new Date(now.getTime() + context.timeoutMs),
        signal: context.signal,
        requestId: context.requestId,
        traceparent: context.traceparent,
        idempotency,
        conditional: operation.ifMatch,
        requireMatch: requireMatchOf(operation, context),
        matchesIfNoneMatch: (tag) => context.ifNoneMatch === '*' || context.ifNoneMatch?.includes(tag) === true,
        setHeader: (header, value) => {
          headers[header] = value;
        },
        headers: headers,
      });
      const json = replyText(operation, reply, checkReplies);
      if (checkReplies) requireStored(operation, idempotency, json);
      tell('ok');
      return { reply: { json, headers } };
    } catch (error) {
      const reason = error instanceof Refusal ? error : internalError();
      const refused = refusalResponse(reason);
      tell(reason.kind, { errorId: refused.error.id, ...(reason === error ? {} : { defect: error }) });
      return { refusal: refused };
    } finally {
      if (--running === 0) idle?.();
    }
  };

  const subscriptions = await Promise.all(
    served.map((endpoint) =>
      bus.respond(endpoint.operation.subject, (request, context) => answer(endpoint, request, context)),
    ),
  );
  const services = new Set(served.map(({ operation }) => serviceOf(operation)));
  const isPresent = async (): Promise<CallResponse> => ({ reply: { json: 'true', headers: {} } });
  const presence = await Promise.all([...services].map((service) => bus.respond(presenceSubject(service), isPresent)));
  return {
    stop: async () => {
      // First of all: while operations are withdrawn, one that is missing says nothing about the version.
      await Promise.all(presence.map((subscription) => subscription.stop()));
      await Promise.all(subscriptions.map((subscription) => subscription.stop()));
      if (running > 0) await new Promise<void>((resolve) => (idle = resolve));
    },
  };
};
