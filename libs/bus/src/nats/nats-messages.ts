import { type Caller, refusal } from '@bunting/contracts';
import { headers, type Msg, type MsgHdrs } from '@nats-io/transport-node';
import type { CallContext, CallResponse, ReceivedContext, RefusalResponse } from '../bus.ts';
import type { IfMatch } from '../conditional-requests.ts';
import { remainingMs } from '../deadline.ts';
import { serializeRefusal } from '../refusals.ts';
import type { CallerSignatures } from './caller-signatures.ts';
import type { RawResponse } from './nats-caller.ts';

/** The headers of calls and responses, and of events. */
const header = {
  caller: 'Bunting-Caller',
  callerSignature: 'Bunting-Caller-Signature',
  requestId: 'X-Request-Id',
  traceparent: 'traceparent',
  timeoutMs: 'Bunting-Timeout-Ms',
  /** milliseconds since 1970 by the caller's clock; `timeoutMs` later the call is past its deadline */
  sentAt: 'Bunting-Sent-At',
  idempotencyKey: 'Idempotency-Key',
  ifMatch: 'If-Match',
  ifNoneMatch: 'If-None-Match',
  refused: 'Bunting-Refused',
  responseHeaders: 'Bunting-Response-Headers',
} as const;

/** Encodes a value as header text: headers carry ASCII only. */
function encodeHeader(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
function decodeHeader(value: string): unknown {
  return JSON.parse(Buffer.from(value, 'base64url').toString());
}

/** The headers of a call. */
export function requestHeaders(context: CallContext, signatures: CallerSignatures): MsgHdrs {
  const messageHeaders = headers();
  const caller = encodeHeader(context.caller);
  messageHeaders.set(header.caller, caller);
  const signature = signatures.signatureOf(caller, context.timeoutMs);
  if (signature !== undefined) messageHeaders.set(header.callerSignature, signature);
  messageHeaders.set(header.requestId, encodeHeader(context.requestId));
  messageHeaders.set(header.traceparent, context.traceparent);
  messageHeaders.set(header.timeoutMs, String(Math.round(context.timeoutMs)));
  messageHeaders.set(header.sentAt, String(Date.now()));
  if (context.idempotencyKey !== undefined)
    messageHeaders.set(header.idempotencyKey, encodeHeader(context.idempotencyKey));
  if (context.ifMatch !== undefined) messageHeaders.set(header.ifMatch, encodeHeader(context.ifMatch));
  if (context.ifNoneMatch !== undefined) messageHeaders.set(header.ifNoneMatch, encodeHeader(context.ifNoneMatch));
  return messageHeaders;
}

/** The headers of an event. */
export function eventHeaders(traceparent: string | null): MsgHdrs {
  const messageHeaders = headers();
  if (traceparent !== null) messageHeaders.set(header.traceparent, traceparent);
  return messageHeaders;
}

/**
 * The context of a received call.
 * @throws Refusal when its deadline has passed
 */
export function contextOf(message: Msg, signatures: CallerSignatures): ReceivedContext {
  const received = message.headers ?? headers();
  const now = Date.now();
  const sentAt = received.get(header.sentAt);
  const sentCall = { sentAt: sentAt === '' ? now : Number(sentAt), timeoutMs: Number(received.get(header.timeoutMs)) };
  const idempotencyKey = received.get(header.idempotencyKey);
  const ifMatch = received.get(header.ifMatch);
  const ifNoneMatch = received.get(header.ifNoneMatch);
  const caller = received.get(header.caller);
  return {
    caller: decodeHeader(caller) as Caller,
    callerSignature: signatures.verify(caller, received.get(header.callerSignature)),
    requestId: decodeHeader(received.get(header.requestId)) as string,
    traceparent: received.get(header.traceparent),
    timeoutMs: remainingMs({ ...sentCall, isWrite: !isRepeatableCall(message) }, now),
    ...(idempotencyKey === '' ? {} : { idempotencyKey: decodeHeader(idempotencyKey) as string }),
    ...(ifMatch === '' ? {} : { ifMatch: decodeHeader(ifMatch) as IfMatch }),
    ...(ifNoneMatch === '' ? {} : { ifNoneMatch: decodeHeader(ifNoneMatch) as IfMatch }),
  };
}

const textDecoder = new TextDecoder();

/** The response of a received message. */
export function responseOf({ headers: received, data }: RawResponse): CallResponse {
  const text = textDecoder.decode(data);
  const refusedKind = received?.get(header.refused) ?? '';
  if (refusedKind !== '') return { refusal: JSON.parse(text) as RefusalResponse };
  const encodedHeaders = received?.get(header.responseHeaders) ?? '';
  const replyHeaders = encodedHeaders === '' ? {} : (decodeHeader(encodedHeaders) as Record<string, string>);
  return { reply: { json: text, headers: replyHeaders } };
}

/** The maximum size of a response: half of the 64 MiB that a NATS server by default buffers for a slow client before it disconnects it. */
const maxResponseBytes = 32 * 1024 * 1024;

/** The refusal of a request or a reply that is too large. */
export function tooLargeRefusal(message: string, bytes: number, max: number): CallResponse {
  return {
    refusal: serializeRefusal(
      refusal(
        'PayloadTooLarge',
        `${message} is ${bytes} bytes, more than the ${max} that the message bus carries. Request less at a time.`,
      ),
    ),
  };
}

/** A response as a message: refusals are marked by a header, and a reply beyond the limit becomes a refusal. */
export function encodeResponse(response: CallResponse): { payload: Buffer; responseHeaders?: MsgHdrs } {
  const responseHeaders = headers();
  if ('refusal' in response) {
    responseHeaders.set(header.refused, response.refusal.kind);
    return { payload: Buffer.from(JSON.stringify(response.refusal)), responseHeaders };
  }
  const payload = Buffer.from(response.reply.json);
  if (payload.length > maxResponseBytes)
    return encodeResponse(tooLargeRefusal('The answer', payload.length, maxResponseBytes));
  if (Object.keys(response.reply.headers).length === 0) return { payload };
  responseHeaders.set(header.responseHeaders, encodeHeader(response.reply.headers));
  return { payload, responseHeaders };
}

/*
 * The protocol of calls, beyond request and reply of NATS: a large response is sent in chunks; a responder sends a notice with the id of its
 * process before the response; and each process subscribes to a subject of its own, on which callers check whether it still handles their
 * calls.
 */

/** The id of the process that accepted a call, at the end of its `aliveSubject`: the header of the notice that precedes the response. */
export const acceptedByHeader = 'Bunting-Taken-By';
/** Marks a call that may be sent to another responder. */
export const repeatableHeader = 'Bunting-Repeatable';
/** `<response id> <number of chunks>`, on each chunk of a response that is larger than a message may be. */
export const chunkHeader = 'Bunting-Part-Of';

/** Whether the caller marked a call as repeatable; other calls are writes. */
export function isRepeatableCall(message: Msg): boolean {
  return (message.headers?.get(repeatableHeader) ?? '') !== '';
}

/** The subject of a process, which gets the reply subjects of calls on it, and replies with those whose calls it is not handling. */
export function aliveSubject(service: string, process: string): string {
  return `alive.${service}.${process}`;
}

/** The interval of checks of calls without a response. */
export const checkIntervalMs = 250;

/** Runs a check at intervals while a collection is not empty. Call the result after each addition. */
export function checkWhileAny(items: { readonly size: number }, check: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  return () => {
    timer ??= setInterval(() => {
      if (items.size > 0) return check();
      clearInterval(timer);
      timer = undefined;
    }, checkIntervalMs).unref();
  };
}
