import {
  type AnyOperation,
  type CalledBy,
  type Caller,
  isIdempotent,
  operationName,
  type ReplyOf,
  type RequestOf,
  type ServiceName,
  serviceOf,
  systemCaller,
} from '@bunting/contracts';
import { activeTraceparent, inChildSpan, type SpanOptions } from '@bunting/tracing';
import { randomUUID } from 'node:crypto';
import type { Bus, CallContext, CallResponse } from './bus.ts';
import { deserializeRefusal } from './refusals.ts';

/** The request of a call: the parts that the operation does not take may be left out. */
export type CallRequest<O extends AnyOperation> = Partial<RequestOf<O>>;

/** The options of the span that the client or the server of a call opens, by the semantic conventions of OpenTelemetry for RPC. */
export function callSpanOptions(operation: AnyOperation, kind: 'client' | 'server') {
  return (): SpanOptions => {
    const method = `${serviceOf(operation)}/${operationName(operation)}`;
    return { name: method, kind, attributes: { 'rpc.system.name': 'bunting', 'rpc.method': method } };
  };
}

/** Calls an operation and returns the response unparsed, for callers that pass it on. */
export function callForResponse<O extends AnyOperation>(
  bus: Bus,
  operation: O,
  request: CallRequest<O>,
  context: CallContext,
): Promise<CallResponse> {
  return inChildSpan(callSpanOptions(operation, 'client'), async (span) => {
    const response = await bus.call(
      operation.subject,
      JSON.stringify({ params: request.params ?? {}, query: request.query ?? {}, body: request.body }),
      { ...context, traceparent: span?.traceparent ?? context.traceparent, repeatable: isIdempotent(operation) },
    );
    if ('refusal' in response) span?.fail(response.refusal.kind);
    return response;
  });
}

/**
 * Calls an operation and returns its reply.
 * @throws Refusal of the called service
 */
export async function call<O extends AnyOperation>(
  bus: Bus,
  operation: O,
  request: CallRequest<O>,
  context: CallContext,
): Promise<ReplyOf<O>> {
  const response = await callForResponse(bus, operation, request, context);
  if ('refusal' in response) throw deserializeRefusal(response.refusal);
  return JSON.parse(response.reply.json) as ReplyOf<O>;
}

/** Like `call`, but undefined where the service runs an older version without the operation, for optional parts of a reply. */
export async function callIfSupported<O extends AnyOperation>(
  bus: Bus,
  operation: O,
  request: CallRequest<O>,
  context: CallContext,
): Promise<ReplyOf<O> | undefined> {
  const json = await callForJsonIfSupported(bus, operation, request, context);
  return json === undefined ? undefined : (JSON.parse(json) as ReplyOf<O>);
}

/** Like `callIfSupported`, and returns the JSON text of the reply, for a service that passes it on to PostgreSQL. */
export async function callForJsonIfSupported<O extends AnyOperation>(
  bus: Bus,
  operation: O,
  request: CallRequest<O>,
  context: CallContext,
): Promise<string | undefined> {
  const response = await callForResponse(bus, operation, request, context);
  if ('reply' in response) return response.reply.json;
  if (response.refusal.isUnsupported === true) return undefined;
  throw deserializeRefusal(response.refusal);
}

/** `call` and its variants for the code of a service: they take what `calledOperations` lists for it, and nothing else compiles. */
export function callsOf<S extends ServiceName>(
  _service: S,
): {
  readonly call: <O extends CalledBy<S>>(...args: Parameters<typeof call<O>>) => Promise<ReplyOf<O>>;
  readonly callIfSupported: <O extends CalledBy<S>>(
    ...args: Parameters<typeof callIfSupported<O>>
  ) => Promise<ReplyOf<O> | undefined>;
  readonly callForJsonIfSupported: <O extends CalledBy<S>>(
    ...args: Parameters<typeof callForJsonIfSupported<O>>
  ) => Promise<string | undefined>;
} {
  return { call, callIfSupported, callForJsonIfSupported };
}

interface ParentCall {
  readonly caller: Caller;
  readonly requestId: string;
  readonly traceparent: string;
  readonly deadline: Date;
}

/** The context of a call made while handling another: the same caller and trace, and the time left until the parent's deadline. */
export function onBehalfOf({ caller, requestId, traceparent, deadline }: ParentCall): CallContext {
  return {
    caller,
    requestId,
    traceparent: activeTraceparent() ?? traceparentFrom(traceparent),
    timeoutMs: deadline.getTime() - Date.now(),
  };
}

/** The context of calls that Bunting makes by itself, on no user's behalf. */
export function systemContext(timeoutMs: number): CallContext {
  return {
    caller: systemCaller,
    requestId: randomUUID(),
    traceparent: systemTraceparent(),
    timeoutMs,
  };
}

const traceparentPattern = /^00-([0-9a-f]{32})-[0-9a-f]{16}-([0-9a-f]{2})$/;

/** A W3C trace context that continues the received one when it is well-formed, and is new otherwise. */
export function traceparentFrom(received?: string): string {
  const parent = received === undefined ? null : traceparentPattern.exec(received);
  // randomUUID draws from a pool of random bytes, so for a few bytes it is cheaper than randomBytes.
  const trace = parent?.[1] ?? randomUUID().replaceAll('-', '');
  const span = randomUUID();
  return `00-${trace}-${span.slice(0, 8)}${span.slice(24, 32)}-${parent?.[2] ?? '01'}`;
}

/** A W3C trace context of work that Bunting does by itself: that of the active span, or else of a trace that is not sampled. */
export function systemTraceparent(): string {
  return activeTraceparent() ?? traceparentFrom().replace(/01$/, '00');
}
