import type { Caller, ErrorBody, ErrorKind } from '@bunting/contracts';
import type { IfMatch } from './conditional-requests.ts';

/** The context that every call carries beside the request. */
export interface CallContext {
  readonly caller: Caller;
  readonly requestId: string;
  /** W3C trace context */
  readonly traceparent: string;
  /** milliseconds that the caller waits, from the time of the call */
  readonly timeoutMs: number;
  /** whether the call may be retried after its responder was lost; false for writes */
  readonly repeatable?: boolean;
  /** on the responder's side: aborted when the reply can no longer reach the caller */
  readonly signal?: AbortSignal | undefined;
  readonly idempotencyKey?: string | undefined;
  /** entity tags of which one must be current; otherwise the write is refused */
  readonly ifMatch?: IfMatch | undefined;
  /** entity tags that the caller has cached, for an operation that tags its replies itself */
  readonly ifNoneMatch?: IfMatch | undefined;
}

/** Whether the gateway has signed the caller of a call. Within a process nothing is signed, and all callers are `valid`. */
export type CallerSignature = 'valid' | 'missing' | 'expired' | 'invalid';

/** The context of a received call. */
export interface ReceivedContext extends CallContext {
  readonly callerSignature: CallerSignature;
}

/** A reply as JSON text, so that the gateway can pass it on without parsing it. */
export interface Reply {
  readonly json: string;
  /** response headers, named as in HTTP, e.g. `Bunting-Stale` */
  readonly headers: Readonly<Record<string, string>>;
}

/** A refusal as data on the wire. */
export interface RefusalResponse {
  readonly kind: ErrorKind;
  readonly error: ErrorBody;
  readonly retryAfterSeconds?: number | undefined;
  /** for a failed precondition: the current entity tag */
  readonly tag?: string | undefined;
  /** set when the called service runs an older version, which does not have the operation */
  readonly isUnsupported?: true;
}

export type CallResponse = { readonly reply: Reply } | { readonly refusal: RefusalResponse };

export type CallHandler = (request: string, context: ReceivedContext) => Promise<CallResponse>;

/** An event on its way to the stream that integrators read (docs/events.md). */
export interface IntegrationEvent {
  /** `event.<producer>.<type>` */
  readonly subject: string;
  /** the same each time the event is published, so that the stream deduplicates it */
  readonly id: string;
  readonly payload: string;
  readonly traceparent: string | null;
}

/** One topic of a producer's outbox. */
export interface OutboxSource {
  readonly producer: string;
  readonly topic: string;
}

/** Counts the commits to outboxes. */
export interface CommitCount {
  /** Counts a commit from before it is sent. @returns a function to call once it has ended, whether it has succeeded or not */
  begin(source: OutboxSource): () => void;
  /** How many commits to an outbox have ended; undefined while one has not, and before the first. */
  ended(source: OutboxSource): number | undefined;
}

export interface Subscription {
  stop(): Promise<void>;
}

/** How services call each other. It has two implementations, NATS and in-process, which one behaviour suite tests. */
export interface Bus {
  /** The response of one of the subject's responders; a `ServiceUnavailable` refusal when there is none, or none in time. */
  call(subject: string, request: string, context: CallContext): Promise<CallResponse>;
  /** Handles calls of a subject. Several responders of a subject share its calls. */
  respond(subject: string, handler: CallHandler): Promise<Subscription>;
  /**
   * Resolves when the stream has stored the events; after a rejection the caller may publish all of them a second time. An event that
   * exceeds the maximum size of a message is left out with a warning. Undefined on the in-process bus, which has no stream.
   */
  readonly publish: ((events: readonly IntegrationEvent[]) => Promise<void>) | undefined;
  /** Wakes the consumers of an outbox in every process. Wake-ups may be lost, so consumers poll as well. */
  notify(source: OutboxSource): void;
  /** The commits of all producers; undefined where other processes may commit to an outbox as well, which no count of this process sees. */
  readonly commits: CommitCount | undefined;
  /** Calls `wake` at each wake-up, and after a reconnect, since wake-ups may have been lost. */
  subscribe(source: OutboxSource, wake: () => void): Promise<Subscription>;
  /**
   * Checks the server, and creates the missing streams of the producers.
   * @throws Error with the next step when the server is too old, lacks JetStream, or has limits that Bunting cannot work with
   */
  prepareServer(producers: readonly string[]): Promise<void>;
  /** Throws an error with the reason when calls cannot be made now. */
  ready(): void;
  close(): Promise<void>;
}
