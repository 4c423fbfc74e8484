import type { Caller, ErrorBody, ErrorKind } from '@bunting/contracts';
import type { IfMatch } from './precondition.ts';

/** What travels with every call, beside what is asked. */
export interface CallContext {
  readonly caller: Caller;
  readonly requestId: string;
  /** W3C trace context */
  readonly traceparent: string;
  /** milliseconds that the caller is still willing to wait, from the moment of the call */
  readonly timeoutMs: number;
  /** asking twice does no harm, so that it may be asked again when who had it is gone */
  readonly repeatable?: boolean;
  /** for the service that answers: aborted when its reply can no longer reach the caller */
  readonly signal?: AbortSignal | undefined;
  readonly idempotencyKey?: string | undefined;
  /** the tags of which one must be current, or nothing is done */
  readonly ifMatch?: IfMatch | undefined;
  /** the tags of what the reader has, for an operation that tags its replies itself */
  readonly ifNoneMatch?: IfMatch | undefined;
}

/** A reply as the JSON text that the service made, so that who only passes it on need not parse it. */
export interface Reply {
  readonly json: string;
  /** said beside the reply, e.g. `Bunting-Stale`; names as in HTTP */
  readonly headers: Readonly<Record<string, string>>;
}

/** A "no" as it travels: data, and not an exception of the transport. */
export interface RefusalResponse {
  readonly kind: ErrorKind;
  readonly error: ErrorBody;
  readonly retryAfterSeconds?: number | undefined;
  /** of what has changed: its tag as it is now */
  readonly tag?: string | undefined;
  /** the service that was called runs an older version, without the operation */
  readonly isUnsupported?: true;
}

export type CallResponse = { readonly reply: Reply } | { readonly refusal: RefusalResponse };

export type CallHandler = (request: string, context: CallContext) => Promise<CallResponse>;

/** An event on its way to the stream that integrators read (docs/events.md). */
export interface StreamEvent {
  /** `event.<producer>.<type>` */
  readonly subject: string;
  /** the same however often it is published */
  readonly id: string;
  readonly payload: string;
  readonly traceparent: string | null;
}

/** One topic of a producer's outbox. */
export interface OutboxSource {
  readonly producer: string;
  readonly topic: string;
}

export interface Subscription {
  stop(): Promise<void>;
}

/**
 * How services reach each other. Two transports stand behind it, NATS and one process's memory, and one behaviour suite
 * holds both to the same answers.
 */
export interface Bus {
  /** One answer, from one of those who respond. Nobody there, or no answer in time: a `ServiceUnavailable` refusal. */
  call(subject: string, request: string, context: CallContext): Promise<CallResponse>;
  /** Responders of one subject share its calls. */
  respond(subject: string, responder: CallHandler): Promise<Subscription>;
  /**
   * Resolves once the stream has stored the events; rejects when it has not, and then all may be published again. An event
   * that is larger than the transport carries is left out. Undefined for a transport within one process: it has no stream.
   */
  readonly publish: ((facts: readonly StreamEvent[]) => Promise<void>) | undefined;
  /** Wakes the consumers of an outbox, in whatever process. The wake-up may be lost: consumers poll as well. */
  notify(source: OutboxSource): void;
  /** Calls `wake` at each wake-up, and when wake-ups may have been lost with the connection. */
  subscribe(source: OutboxSource, wake: () => void): Promise<Subscription>;
  /** Throws a sentence on why calls cannot be made now. */
  ready(): void;
  close(): Promise<void>;
}
