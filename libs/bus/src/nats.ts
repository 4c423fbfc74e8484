import { type Caller, Refusal, refusal, type ServiceName, unavailable } from '@bunting/contracts';
import {
  DiscardPolicy,
  jetstream,
  type JetStreamManager,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
} from '@nats-io/jetstream';
import { headers, type Msg, type MsgHdrs, nanos } from '@nats-io/transport-node';
import type { CallResponse, Bus, CallContext, OutboxSource, RefusalResponse } from './bus.ts';
import type { IfMatch } from './precondition.ts';
import { remainingMs } from './deadline.ts';
import { type RawResponse, isRepeatableCall, natsCalls, type NoResponse } from './nats-calls.ts';
import { connectToNats, type NatsAccess } from './nats-connection.ts';
import { presenceSubject, serviceOfSubject, noHandlerResponse } from './presence.ts';
import { refusalResponse } from './refusal-response.ts';
import { systemContext } from './call.ts';

export interface NatsOptions {
  readonly url: string;
  /** how this process is called in the server's list of connections */
  readonly name: string;
  /** told of what happens to the connection and heals by itself */
  readonly warn?: (message: string) => void;
  /** how long the first connection may take */
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
  said: 'Bunting-Said',
} as const;

/** A text as a header value: what is no plain ASCII must not reach the wire as it is. */
const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const decoded = (value: string): unknown => JSON.parse(Buffer.from(value, 'base64url').toString());

const requestHeaders = (context: CallContext): MsgHdrs => {
  const carried = headers();
  carried.set(header.caller, encoded(context.caller));
  carried.set(header.requestId, encoded(context.requestId));
  carried.set(header.traceparent, context.traceparent);
  carried.set(header.timeoutMs, String(Math.round(context.timeoutMs)));
  carried.set(header.sentAt, String(Date.now()));
  if (context.idempotencyKey !== undefined) carried.set(header.idempotencyKey, encoded(context.idempotencyKey));
  if (context.ifMatch !== undefined) carried.set(header.ifMatch, encoded(context.ifMatch));
  if (context.ifNoneMatch !== undefined) carried.set(header.ifNoneMatch, encoded(context.ifNoneMatch));
  return carried;
};

/**
 * The context of a call as it is read.
 * @throws Refusal when its deadline has passed
 */
const contextOf = (message: Msg): CallContext => {
  const carried = message.headers ?? headers();
  const now = Date.now();
  const sentAt = carried.get(header.sentAt);
  const sent = { sentAt: sentAt === '' ? now : Number(sentAt), timeoutMs: Number(carried.get(header.timeoutMs)) };
  const idempotencyKey = carried.get(header.idempotencyKey);
  const ifMatch = carried.get(header.ifMatch);
  const ifNoneMatch = carried.get(header.ifNoneMatch);
  return {
    caller: decoded(carried.get(header.caller)) as Caller,
    requestId: decoded(carried.get(header.requestId)) as string,
    traceparent: carried.get(header.traceparent),
    timeoutMs: remainingMs({ ...sent, isWrite: !isRepeatableCall(message) }, now),
    ...(idempotencyKey === '' ? {} : { idempotencyKey: decoded(idempotencyKey) as string }),
    ...(ifMatch === '' ? {} : { ifMatch: decoded(ifMatch) as IfMatch }),
    ...(ifNoneMatch === '' ? {} : { ifNoneMatch: decoded(ifNoneMatch) as IfMatch }),
  };
};

const asText = new TextDecoder();

const responseOf = ({ headers: carried, data }: RawResponse): CallResponse => {
  const text = asText.decode(data);
  const refused = carried?.get(header.refused) ?? '';
  if (refused !== '') return { refusal: JSON.parse(text) as RefusalResponse };
  const said = carried?.get(header.said) ?? '';
  return { reply: { json: text, headers: said === '' ? {} : (decoded(said) as Record<string, string>) } };
};

/** Half of what a NATS server keeps for a client that reads slowly, unless told otherwise, before it cuts it off. */
const maxResponseBytes = 32 * 1024 * 1024;

/** How long the server may take to confirm the end of a subscription or of the connection. */
const drainTimeoutMs = 3_000;

/** Waits for a drain, which only the server can confirm, until its timeout. Resolves with whether it was confirmed. */
const drained = async (draining: Promise<unknown>): Promise<boolean> => {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<boolean>((resolve) => (timer = setTimeout(resolve, drainTimeoutMs, false)));
  const confirmed = draining.then(
    () => true,
    () => false,
  );
  return Promise.race([confirmed, timeout]).finally(() => clearTimeout(timer));
};

/** How long a call without a responder is held up in order to say why it has none. */
const presenceTimeoutMs = 500;

/** How often calls that were read too late are warned of at most. */
const latenessWarningMs = 10_000;

const busUnavailable = (): CallResponse => ({
  refusal: refusalResponse(unavailable('The message bus is away. Please try again.')),
});

const noResponse = (subject: string, why: Exclude<NoResponse, 'nobody'>, isWrite: boolean): CallResponse => {
  const told = {
    late: isWrite
      ? `${subject} did not answer in time: it may have been done or not, and will not be done from now on. Please look, and try again.`
      : `${subject} did not answer in time. Please try again.`,
    lost: `Who had ${subject} has gone without an answer: it may have been done or not. Please look, and try again.`,
  }[why];
  return { refusal: refusalResponse(unavailable(told)) };
};

const streamOf = (producer: string): string => `bunting-${producer}`;
const wakeSubjectOf = ({ producer, topic }: OutboxSource): string => `wake.${producer}.${topic}`;

/** The bus over a NATS server with JetStream. */
export const natsBus = async ({
  url,
  name,
  warn = () => undefined,
  connectTimeoutMs = 10_000,
  access,
}: NatsOptions): Promise<Bus> => {
  const connection = await connectToNats(url, { name, connectTimeoutMs, access });
  let connected = true;
  let closing = false;
  const calls = natsCalls(connection);
  /** of the subscriptions: a wake-up may have been lost while the connection was */
  const wakers = new Set<() => void>();
  let warnedAt = Number.NEGATIVE_INFINITY;
  /** A process that stood still finds many late calls: one line in a while tells of them. */
  const warnOfLateness = (message: string): void => {
    if (performance.now() - warnedAt < latenessWarningMs) return;
    warnedAt = performance.now();
    warn(message);
  };
  void (async () => {
    for await (const status of connection.status()) {
      if (status.type === 'disconnect') {
        connected = false;
        calls.disconnected();
      }
      if (status.type === 'reconnect') {
        connected = true;
        for (const wake of wakers) wake();
      }
      if (!closing && (status.type === 'disconnect' || status.type === 'reconnect')) warn(`NATS: ${status.type}`);
    }
  })();

  const js = jetstream(connection, { timeout: 5_000 });
  let manager: JetStreamManager | undefined;
  const ensureStream = async (producer: string): Promise<void> => {
    manager ??= await jetstreamManager(connection, { timeout: 5_000 });
    await manager.streams.add({
      name: streamOf(producer),
      subjects: [`event.${producer}.>`],
      retention: RetentionPolicy.Limits,
      storage: StorageType.File,
      discard: DiscardPolicy.Old,
      max_bytes: 256 * 1024 * 1024,
      max_age: nanos(24 * 60 * 60 * 1000),
      duplicate_window: nanos(2 * 60 * 1000),
    });
  };

  /** What the server carries in one message, less room for headers. */
  const largest = (): number => {
    const carried = connection.info?.max_payload ?? 1024 * 1024;
    return Math.max(carried - 16 * 1024, Math.floor(carried / 2));
  };
  const tooLarge = (what: string, bytes: number, most: number): CallResponse => ({
    refusal: refusalResponse(
      refusal(
        'PayloadTooLarge',
        `${what} is ${bytes} bytes, more than the ${most} that the message bus carries. Ask for less at once.`,
      ),
    ),
  });

  /** Whether the service of a subject is there. */
  const isPresent = async (subject: string): Promise<boolean> => {
    const context = systemContext(presenceTimeoutMs);
    const carried = (leftMs: number) => requestHeaders({ ...context, timeoutMs: leftMs });
    const request = presenceSubject(serviceOfSubject(subject));
    const options = { timeoutMs: presenceTimeoutMs, repeatable: true };
    return typeof (await calls.send(request, Buffer.from('{}'), carried, options)) !== 'string';
  };

  const offered = (answer: CallResponse): { payload: Buffer; carried?: MsgHdrs } => {
    const carried = headers();
    if ('refusal' in answer) {
      carried.set(header.refused, answer.refusal.kind);
      return { payload: Buffer.from(JSON.stringify(answer.refusal)), carried };
    }
    const payload = Buffer.from(answer.reply.json);
    if (payload.length > maxResponseBytes) return offered(tooLarge('The answer', payload.length, maxResponseBytes));
    if (Object.keys(answer.reply.headers).length === 0) return { payload };
    carried.set(header.said, encoded(answer.reply.headers));
    return { payload, carried };
  };

  return {
    call: async (subject, request, context) => {
      const payload = Buffer.from(request);
      if (payload.length > largest()) return tooLarge('The request', payload.length, largest());
      if (!connected || connection.isClosed()) return busUnavailable();
      const { timeoutMs, repeatable = false } = context;
      if (timeoutMs <= 0)
        return { refusal: refusalResponse(unavailable(`${subject} was not called: its time is up.`)) };
      try {
        const carried = (leftMs: number) => requestHeaders({ ...context, timeoutMs: leftMs });
        const heard = await calls.send(subject, payload, carried, { timeoutMs: Math.round(timeoutMs), repeatable });
        if (heard === 'nobody') return noHandlerResponse(subject, await isPresent(subject));
        return typeof heard === 'string' ? noResponse(subject, heard, !repeatable) : responseOf(heard);
      } catch {
        return busUnavailable();
      }
    },

    respond: async (subject, responder) => {
      const queue = subject.split('.')[1] as ServiceName;
      const answered = async (message: Msg, signal: AbortSignal): Promise<CallResponse> => {
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
        const { signal, over } = calls.accept(message);
        try {
          const { payload, carried } = offered(await answered(message, signal));
          calls.respond(message, payload, carried, largest());
        } finally {
          over();
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
      // A connection that is lost in this moment asks for the calls again as soon as it is back.
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
      if (!connected) throw new Error('The message bus is away.');
      const facts = all.filter(({ subject, id, payload }) => {
        const bytes = Buffer.byteLength(payload);
        if (bytes > largest())
          warn(`NATS: ${subject} ${id} exceeds max_payload (${bytes} bytes) and is missing in the stream of events.`);
        return bytes <= largest();
      });
      const send = () =>
        Promise.all(
          facts.map((fact) => {
            const carried = headers();
            if (fact.traceparent !== null) carried.set(header.traceparent, fact.traceparent);
            return js.publish(fact.subject, fact.payload, { msgID: fact.id, headers: carried, timeout: 5_000 });
          }),
        );
      try {
        await send();
      } catch {
        // The stream may be gone with the server's storage: create it again, and report what fails now.
        await Promise.all([...new Set(facts.map((fact) => fact.subject.split('.')[1] as string))].map(ensureStream));
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

    ready: () => {
      if (!connected || connection.isClosed()) throw new Error('The message bus is away.');
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
