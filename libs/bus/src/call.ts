import { randomUUID } from 'node:crypto';
import { type AnyOperation, isIdempotent, type ReplyOf, type RequestOf, systemCaller } from '@bunting/contracts';
import type { CallResponse, Bus, CallContext } from './bus.ts';
import { refusalFrom } from './refusal-response.ts';

/** What of a request an operation needs; what it does not take may be left out. */
export type CallRequest<O extends AnyOperation> = Partial<RequestOf<O>>;

/** Calls an operation and gives its answer as it came, for who only passes it on. */
export const callForResponse = <O extends AnyOperation>(
  bus: Bus,
  operation: O,
  ask: CallRequest<O>,
  context: CallContext,
): Promise<CallResponse> =>
  bus.call(operation.subject, JSON.stringify({ params: ask.params ?? {}, query: ask.query ?? {}, body: ask.body }), {
    ...context,
    repeatable: isIdempotent(operation),
  });

/** Calls an operation. A refusal is thrown as it was meant: who does not handle it passes it on. */
export const call = async <O extends AnyOperation>(
  bus: Bus,
  operation: O,
  ask: CallRequest<O>,
  context: CallContext,
): Promise<ReplyOf<O>> => {
  const answer = await callForResponse(bus, operation, ask, context);
  if ('refusal' in answer) throw refusalFrom(answer.refusal);
  return JSON.parse(answer.reply.json) as ReplyOf<O>;
};

/**
 * Calls an operation whose reply only adds to another: undefined where the service runs an older version without it, so that an
 * upgrade service by service takes nothing away that was there before.
 */
export const callIfSupported = async <O extends AnyOperation>(
  bus: Bus,
  operation: O,
  ask: CallRequest<O>,
  context: CallContext,
): Promise<ReplyOf<O> | undefined> => {
  const answer = await callForResponse(bus, operation, ask, context);
  if ('reply' in answer) return JSON.parse(answer.reply.json) as ReplyOf<O>;
  if (answer.refusal.isUnsupported === true) return undefined;
  throw refusalFrom(answer.refusal);
};

const traceparent = /^00-([0-9a-f]{32})-[0-9a-f]{16}-([0-9a-f]{2})$/;

/** A new W3C trace context; continues the given one when it is well-formed. */
export const traceparentFrom = (received?: string): string => {
  const known = received === undefined ? null : traceparent.exec(received);
  // Random UUIDs come from a pool of random bytes, which a call of its own for so few bytes does not.
  const trace = known?.[1] ?? randomUUID().replaceAll('-', '');
  const span = randomUUID();
  return `00-${trace}-${span.slice(0, 8)}${span.slice(24, 32)}-${known?.[2] ?? '01'}`;
};

/** The context of what Bunting does by itself. */
export const systemContext = (timeoutMs: number): CallContext => ({
  caller: systemCaller,
  requestId: randomUUID(),
  traceparent: traceparentFrom(),
  timeoutMs,
});
