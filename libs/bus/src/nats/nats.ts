import { type Caller, consumersOf, Refusal, refusal, type ServiceName, unavailable } from '@bunting/contracts';
import {
  DiscardPolicy,
  jetstream,
  JetStreamApiError,
  type JetStreamManager,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
} from '@nats-io/jetstream';
import { headers, type Msg, type MsgHdrs, nanos } from '@nats-io/transport-node';
import type { CallResponse, Bus, CallContext, OutboxSource, RefusalResponse } from '../bus.ts';
import type { IfMatch } from '../precondition.ts';
import { remainingMs } from '../deadline.ts';
import { type RawResponse, isRepeatableCall, natsCalls, type NoResponse } from './nats-calls.ts';
import { connectToNats, inboxPrefixOf, type NatsAccess } from './nats-connection.ts';
import { requireJetStream, requireServer, streamFault } from './nats-server-check.ts';
import { presenceSubject, serviceOfSubject, noHandlerResponse } from '../presence.ts';
import { refusalResponse } from '../refusal-response.ts';
import { systemContext } from '../call.ts';

export interface NatsOptions {
  readonly url: string;
  /** the name of the connection in the server's list */
  readonly name: string;
  /** takes warnings about the connection that need no action */
  readonly warn?: (message: string) => void;
  /** called when the connection is lost and when it is back */
  readonly onConnection?: (connected: boolean) => void;
  /** timeout of the first connection */
  readonly connectTimeoutMs?: number;
  readonly access?: NatsAccess;
}

const header = {
  caller: 'Bunting-Caller',
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

/** A value as header text: headers carry ASCII only. */
const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const decoded = (value: string): unknown => JSON.parse(Buffer.from(value, 'base64url').toString());

const requestHeaders = (context: CallContext): MsgHdrs => {
  const sent = headers();
  sent.set(header.caller, encoded(context.caller));
  sent.set(header.requestId, encoded(context.requestId));
  sent.set(header.traceparent, context.traceparent);
  sent.set(header.timeoutMs, String(Math.round(context.timeoutMs)));
  sent.set(header.sentAt, String(Date.now()));
  if (context.idempotencyKey !== undefined) sent.set(header.idempotencyKey, encoded(context.idempotencyKey));
  if (context.ifMatch !== undefined) sent.set(header.ifMatch, encoded(context.ifMatch));
  if (context.ifNoneMatch !== undefined) sent.set(header.ifNoneMatch, encoded(context.ifNoneMatch));
  return sent;
};

/**
 * The context of a received call.
 * @throws Refusal when its deadline has passed
 */
const contextOf = (message: Msg): CallContext => {
  const received = message.headers ?? headers();
  const now = Date.now();
  const sentAt = received.get(header.sentAt);
  const sent = { sentAt: sentAt === '' ? now : Number(sentAt), timeoutMs: Number(received.get(header.timeoutMs)) };
  const idempotencyKey = received.get(header.idempotencyKey);
  const ifMatch = received.get(header.ifMatch);
  const ifNoneMatch = received.get(header.ifNoneMatch);
  return {
    caller: decoded(received.get(header.caller)) as Caller,
    requestId: decoded(received.get(header.requestId)) as string,
    traceparent: received.get(header.traceparent),
    timeoutMs: remainingMs({ ...sent, isWrite: !isRepeatableCall(message) }, now),
    ...(idempotencyKey === '' ? {} : { idempotencyKey: decoded(idempotencyKey) as string }),
    ...(ifMatch === '' ? {} : { ifMatch: decoded(ifMatch) as IfMatch }),
    ...(ifNoneMatch === '' ? {} : { ifNoneMatch: decoded(ifNoneMatch) as IfMatch }),
  };
};

const asText = new TextDecoder();

const responseOf = ({ headers: received, data }: RawResponse): CallResponse => {
  const text = asText.decode(data);
  const refused = received?.get(header.refused) ?? '';
  if (refused !== '') return { refusal: JSON.parse(text) as RefusalResponse };
  const encodedHeaders = received?.get(header.responseHeaders) ?? '';
  const replyHeaders = encodedHeaders === '' ? {} : (decoded(encodedHeaders) as Record<string, string>);
  return { reply: { json: text, headers: replyHeaders } };
};

/** Half of what a NATS server buffers by default for a slow client before it disconnects it. */
const maxResponseBytes = 32 * 1024 * 1024;

/** How long the server may take to confirm the drain of a subscription or of the connection. */
const drainTimeoutMs = 3_000;

/** Whether the server confirmed a drain within the timeout. */
const drained = async (draining: Promise<unknown>): Promise<boolean> => {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<boolean>((resolve) => (timer = setTimeout(resolve, drainTimeoutMs, false)));
  const confirmed = draining.then(
    () => true,
    () => false,
  );
  return Promise.race([confirmed, timeout]).finally(() => clearTimeout(timer));
};

/** The timeout of finding out why a call has no responder. */
const presenceTimeoutMs = 500;

/** The minimum interval of warnings about calls that were read after their deadline. */
const latenessWarningMs = 10_000;

const busUnavailable = (): CallResponse => ({
  refusal: refusalResponse(unavailable('The message bus is disconnected. Please try again.')),
});

const noResponse = (subject: string, cause: Exclude<NoResponse, 'no-responders'>, isWrite: boolean): CallResponse => {
  const message = {
    timeout: isWrite
      ? `${subject} did not answer in time. It may or may not have been executed, and will not be executed from now on. Check, and try again.`
      : `${subject} did not answer in time. Please try again.`,
    lost: `The process that handled ${subject} was lost before it answered. The call may or may not have been executed. Check, and try again.`,
  }[cause];
  return { refusal: refusalResponse(unavailable(message)) };
};

/** The limits of the stream of a producer, beyond which older events are dropped. */
const streamBytes = 256 * 1024 * 1024;
const streamOf = (producer: string): string => `bunting-${producer}`;
const wakeSubjectOf = ({ producer, topic }: OutboxSource): string => `wake.${producer}.${topic}`;

/** The error of the server for a stream that exists with other limits than requested. */
const existsWithAnotherConfiguration = 10_058;

/** The information that a NATS server sends when a client connects. */
export interface NatsServer {
  readonly version: string;
  readonly maxPayloadBytes: number;
}

/** What JetStream stores for the account of the user. */
export interface NatsStorage {
  /** of the account, also others than Bunting's */
  readonly streams: number;
  readonly storedBytes: number;
  /** the storage limit of the account; undefined where only the server has one */
  readonly maxBytes?: number;
  /** the storage of the streams of all producers at their limits */
  readonly neededBytes: number;
}

/** The bus over a NATS server with JetStream. */
export const natsBus = async ({
  url,
  name,
  warn = () => undefined,
  onConnection = () => undefined,
  connectTimeoutMs = 10_000,
  access,
}: NatsOptions): Promise<Bus & { readonly server: NatsServer; storage(): Promise<NatsStorage> }> => {
  const connection = await connectToNats(url, { name, connectTimeoutMs, access });
  let connected = true;
  let closing = false;
  const calls = natsCalls(connection, inboxPrefixOf(name));
  /** called after a reconnect, since wake-ups may have been lost */
  const wakers = new Set<() => void>();
  let warnedAt = Number.NEGATIVE_INFINITY;
  /** Warns at most once per interval: a process that was suspended finds many late calls. */
  const warnOfLateness = (message: string): void => {
    if (performance.now() - warnedAt < latenessWarningMs) return;
    warnedAt = performance.now();
    warn(message);
  };
  void (async () => {
    for await (const status of connection.status()) {
      if (status.type === 'disconnect') {
        connected = false;
        onConnection(false);
        calls.disconnected();
      }
      if (status.type === 'reconnect') {
        connected = true;
        onConnection(true);
        for (const wake of wakers) wake();
      }
      if (closing) continue;
      // Such as a subject that the user of the process may not publish or subscribe to.
      if (status.type === 'error') warn(`NATS: ${status.error.message}`);
      if (status.type === 'disconnect') warn('NATS: the connection was lost; reconnecting.');
      if (status.type === 'reconnect') warn('NATS: reconnected.');
    }
  })();

  const js = jetstream(connection, { timeout: 5_000 });
  let manager: JetStreamManager | undefined;
  const ensureStream = async (producer: string): Promise<void> => {
    manager ??= await jetstreamManager(connection, { timeout: 5_000 });
    const stream = {
      name: streamOf(producer),
      subjects: [`event.${producer}.>`],
      retention: RetentionPolicy.Limits,
      storage: StorageType.File,
      discard: DiscardPolicy.Old,
      max_bytes: streamBytes,
      max_age: nanos(24 * 60 * 60 * 1000),
      duplicate_window: nanos(2 * 60 * 1000),
    };
    await manager.streams.add(stream).catch((error: unknown) => {
      // An operator has changed its limits.
      if (!(error instanceof JetStreamApiError) || error.code !== existsWithAnotherConfiguration) throw error;
    });
  };

  /** The server's `max_payload` without the maximum size of headers. */
  const maxPayloadBytes = (): number => {
    const max = connection.info?.max_payload ?? 1024 * 1024;
    return Math.max(max - 16 * 1024, Math.floor(max / 2));
  };
  const tooLarge = (subject: string, bytes: number, max: number): CallResponse => ({
    refusal: refusalResponse(
      refusal(
        'PayloadTooLarge',
        `${subject} is ${bytes} bytes, more than the ${max} that the message bus carries. Request less at a time.`,
      ),
    ),
  });

  /** Whether any process of the subject's service is running. */
  const isPresent = async (subject: string): Promise<boolean> => {
    const context = systemContext(presenceTimeoutMs);
    const headersFor = (leftMs: number) => requestHeaders({ ...context, timeoutMs: leftMs });
    const request = presenceSubject(serviceOfSubject(subject));
    const options = { timeoutMs: presenceTimeoutMs, repeatable: true };
    return typeof (await calls.send(request, Buffer.from('{}'), headersFor, options)) !== 'string';
  };

  const encodeResponse = (response: CallResponse): { payload: Buffer; responseHeaders?: MsgHdrs } => {
    const responseHeaders = headers();
    if ('refusal' in response) {
      responseHeaders.set(header.refused, response.refusal.kind);
      return { payload: Buffer.from(JSON.stringify(response.refusal)), responseHeaders };
    }
    const payload = Buffer.from(response.reply.json);
    if (payload.length > maxResponseBytes)
      return encodeResponse(tooLarge('The answer', payload.length, maxResponseBytes));
    if (Object.keys(response.reply.headers).length === 0) return { payload };
    responseHeaders.set(header.responseHeaders, encoded(response.reply.headers));
    return { payload, responseHeaders };
  };

  return {
    call: async (subject, request, context) => {
      const payload = Buffer.from(request);
      if (payload.length > maxPayloadBytes()) return tooLarge('The request', payload.length, maxPayloadBytes());
      if (!connected || connection.isClosed()) return busUnavailable();
      const { timeoutMs, repeatable = false } = context;
      if (timeoutMs <= 0)
        return { refusal: refusalResponse(unavailable(`${subject} was not called: its deadline has passed.`)) };
      try {
        const headersFor = (leftMs: number) => requestHeaders({ ...context, timeoutMs: leftMs });
        const options = { timeoutMs: Math.round(timeoutMs), repeatable };
        const response = await calls.send(subject, payload, headersFor, options);
        if (response === 'no-responders') return noHandlerResponse(subject, await isPresent(subject));
        return typeof response === 'string' ? noResponse(subject, response, !repeatable) : responseOf(response);
      } catch {
        return busUnavailable();
      }
    },

    respond: async (subject, responder) => {
      const queue = subject.split('.')[1] as ServiceName;
      const handle = async (message: Msg, signal: AbortSignal): Promise<CallResponse> => {
        let context: CallContext;
        try {
          context = contextOf(message);
        } catch (error) {
          if (!(error instanceof Refusal)) throw error;
          warnOfLateness(`NATS: ${subject}: ${error.message}`);
          return { refusal: refusalResponse(error) };
        }
        return responder(message.string(), { ...context, signal });
      };
      const respond = async (message: Msg): Promise<void> => {
        const { signal, done } = calls.accept(message);
        try {
          const { payload, responseHeaders } = encodeResponse(await handle(message, signal));
          calls.respond(message, payload, responseHeaders, maxPayloadBytes());
        } finally {
          done();
        }
      };
      const subscription = connection.subscribe(subject, {
        queue,
        callback: (error, message) => {
          if (error !== null) return warn(`NATS: ${subject}: ${error.message}`);
          respond(message).catch((failure: Error) =>
            warn(`NATS: ${subject} could not be answered: ${failure.message}`),
          );
        },
      });
      // The client subscribes again after a reconnect, so a connection that is lost now is no failure.
      await connection.flush().catch((error: unknown) => {
        if (connection.isClosed()) throw error;
      });
      return {
        stop: async () => {
          if (connection.isClosed()) return;
          if (!connected || !(await drained(subscription.drain()))) subscription.unsubscribe();
        },
      };
    },

    publish: async (all) => {
      if (!connected) throw new Error('The message bus is disconnected.');
      const events = all.filter(({ subject, id, payload }) => {
        const bytes = Buffer.byteLength(payload);
        if (bytes > maxPayloadBytes())
          warn(
            `NATS: the event ${id} (${subject}) has ${bytes} bytes and exceeds max_payload. It is not in the stream of events; raise max_payload of the NATS server.`,
          );
        return bytes <= maxPayloadBytes();
      });
      const send = () =>
        Promise.all(
          events.map(({ subject, id, payload, traceparent }) => {
            const eventHeaders = headers();
            if (traceparent !== null) eventHeaders.set(header.traceparent, traceparent);
            return js.publish(subject, payload, { msgID: id, headers: eventHeaders, timeout: 5_000 });
          }),
        );
      try {
        await send();
      } catch {
        // The stream may be lost with the server's storage: create it again, and try once more.
        await Promise.all([...new Set(events.map(({ subject }) => subject.split('.')[1] as string))].map(ensureStream));
        await send();
      }
    },

    notify: (source) => {
      if (connected && !connection.isClosed()) connection.publish(wakeSubjectOf(source));
    },

    subscribe: async (source, wake) => {
      const subscription = connection.subscribe(wakeSubjectOf(source), { callback: wake });
      wakers.add(wake);
      return {
        stop: async () => {
          wakers.delete(wake);
          if (!connection.isClosed()) subscription.unsubscribe();
        },
      };
    },

    get server() {
      const { version = '0.0.0', max_payload: maxPayload = 0 } = connection.info ?? {};
      return { version, maxPayloadBytes: maxPayload };
    },

    storage: async () => {
      manager ??= await requireJetStream(connection);
      const account = await manager.getAccountInfo();
      // Where limits depend on the number of copies: the streams have one.
      const { max_storage: maxBytes } = (account.tiers?.R1 ?? account).limits;
      return {
        streams: account.streams,
        storedBytes: account.storage,
        ...(maxBytes < 0 ? {} : { maxBytes }),
        neededBytes: Object.keys(consumersOf).length * streamBytes,
      };
    },

    checkServer: async (producers) => {
      requireServer(connection);
      manager ??= await requireJetStream(connection);
      for (const producer of producers) {
        await ensureStream(producer).catch((error: unknown) => {
          const fault = streamFault(connection, streamOf(producer), error);
          if (fault !== undefined) throw fault;
          warn(
            `NATS: the stream ${streamOf(producer)} is not there yet (${(error as Error).message}); the relay creates it.`,
          );
        });
      }
    },

    ready: () => {
      if (!connected || connection.isClosed()) throw new Error('The message bus is disconnected.');
    },

    close: async () => {
      closing = true;
      if (connection.isClosed()) return;
      // A lost server confirms no drain.
      if (connected && (await drained(connection.drain()))) return;
      await drained(connection.close());
    },
  };
};
