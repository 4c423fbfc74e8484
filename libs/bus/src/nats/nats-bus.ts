import { Refusal, unavailable } from '@bunting/contracts';
import { AuthorizationError, type Msg, type NatsConnection, PermissionViolationError } from '@nats-io/transport-node';
import type { Bus, CallResponse, ReceivedContext } from '../bus.ts';
import { systemContext } from '../call.ts';
import { presenceSubject, serviceOfSubject } from '../presence.ts';
import {
  deadlinePassedRefusal,
  noHandlerRefusal,
  responderLostRefusal,
  serializeRefusal,
  timeoutRefusal,
} from '../refusals.ts';
import { type CallerKeys, callerSignatures } from './caller-signatures.ts';
import { eventStreams, type NatsStorage } from './event-streams.ts';
import { natsCaller } from './nats-caller.ts';
import { connectToNats, inboxPrefixOf, type NatsAccess, requireSupportedServer } from './nats-connection.ts';
import { contextOf, encodeResponse, requestHeaders, responseOf, tooLargeRefusal } from './nats-messages.ts';
import { acceptedCalls, respondInChunks } from './nats-responder.ts';
import { wakeSubjectOf } from './nats-rights.ts';

export interface NatsOptions {
  readonly url: string;
  /** the name of the connection in the lists of the server, and the prefix of its inboxes */
  readonly name: string;
  /** called with warnings about the connection, which say what an operator can do */
  readonly warn?: (message: string) => void;
  /** called when the connection is lost and when it is back */
  readonly onConnection?: (connected: boolean) => void;
  /** timeout of the first connection */
  readonly connectTimeoutMs?: number;
  readonly access?: NatsAccess;
  /** without keys, this process signs no callers and trusts none */
  readonly callerKeys?: CallerKeys;
}

/** How long the server may take to confirm the drain of a subscription or of the connection. */
const drainTimeoutMs = 3_000;

/** Whether the server confirms a drain within the timeout. */
async function isDrainedInTime(draining: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<boolean>((resolve) => (timer = setTimeout(resolve, drainTimeoutMs, false)));
  const confirmed = draining.then(
    () => true,
    () => false,
  );
  return Promise.race([confirmed, timeout]).finally(() => clearTimeout(timer));
}

/** The timeout of the check whether a call has no responder because its service is not running. */
const presenceTimeoutMs = 500;

/** The minimum interval of warnings about calls that were read after their deadline. */
const latenessWarningMs = 10_000;

function busUnavailableRefusal(): CallResponse {
  return {
    refusal: serializeRefusal(unavailable('The message bus is disconnected. Please try again.')),
  };
}

/** The warning of an error of the server, with what to do where the user of the process lacks a right. */
function warningOf(fault: Error, subject?: string): string {
  const lacksRight = fault instanceof PermissionViolationError || fault instanceof AuthorizationError;
  const advice =
    'Compare the rights of the user of this process with those that docker/nats/nats.conf gives to its service.';
  return `NATS: ${subject === undefined ? '' : `${subject}: `}${fault.message}.${lacksRight ? ` ${advice}` : ''}`;
}

interface StatusListener {
  readonly disconnected: () => void;
  readonly reconnected: () => void;
  readonly warn: (message: string) => void;
}

/** Reports what happens to the connection, until it is closed. */
async function watchStatus(
  connection: NatsConnection,
  { disconnected, reconnected, warn }: StatusListener,
): Promise<void> {
  for await (const status of connection.status()) {
    switch (status.type) {
      case 'disconnect':
        disconnected();
        warn(
          'NATS: the connection was lost; reconnecting. Until then calls fail with 503, and events wait in the outbox.',
        );
        break;
      case 'reconnect':
        reconnected();
        warn('NATS: reconnected.');
        break;
      case 'error':
        warn(warningOf(status.error));
        break;
      default:
    }
  }
}

/** The maximum bytes of a message without its headers: the server's `max_payload` less 16 KiB for headers, and at least half of it. */
function maxPayloadOf({ info }: NatsConnection): number {
  const max = info?.max_payload ?? 1024 * 1024;
  return Math.max(max - 16 * 1024, Math.floor(max / 2));
}

/** The information that a NATS server sends when a client connects. */
interface NatsServer {
  readonly version: string;
  readonly maxPayloadBytes: number;
}

/** The bus over a NATS server with JetStream. */
export async function natsBus({
  url,
  name,
  warn = () => undefined,
  onConnection = () => undefined,
  connectTimeoutMs = 10_000,
  access,
  callerKeys = {},
}: NatsOptions): Promise<Bus & { readonly server: NatsServer; storage(): Promise<NatsStorage> }> {
  const signatures = callerSignatures(callerKeys);
  const connection = await connectToNats(url, { name, connectTimeoutMs, access });
  let isConnected = true;
  let isClosing = false;
  const caller = natsCaller(connection, inboxPrefixOf(name));
  const accepted = acceptedCalls(connection);
  /** called after a reconnect, since wake-ups may have been lost */
  const wakers = new Set<() => void>();
  let warnedAt = Number.NEGATIVE_INFINITY;
  /** Warns at most once per interval: a process that was suspended finds many late calls. */
  const warnOfLateness = (message: string): void => {
    if (performance.now() - warnedAt < latenessWarningMs) return;
    warnedAt = performance.now();
    warn(message);
  };
  void watchStatus(connection, {
    disconnected: () => {
      isConnected = false;
      onConnection(false);
      accepted.disconnected();
      caller.disconnected();
    },
    reconnected: () => {
      isConnected = true;
      onConnection(true);
      for (const wake of wakers) wake();
    },
    warn: (message) => {
      if (!isClosing) warn(message);
    },
  });

  const streams = eventStreams(connection, warn);

  /** Whether any process of the subject's service is running. */
  const isPresent = async (subject: string): Promise<boolean> => {
    const context = systemContext(presenceTimeoutMs);
    const headersFor = (remainingMs: number) => requestHeaders({ ...context, timeoutMs: remainingMs }, signatures);
    const request = presenceSubject(serviceOfSubject(subject));
    const options = { timeoutMs: presenceTimeoutMs, repeatable: true };
    return typeof (await caller.send(request, Buffer.from('{}'), headersFor, options)) !== 'string';
  };

  return {
    call: async (subject, request, context) => {
      const payload = Buffer.from(request);
      if (payload.length > maxPayloadOf(connection))
        return tooLargeRefusal('The request', payload.length, maxPayloadOf(connection));
      if (!isConnected || connection.isClosed()) return busUnavailableRefusal();
      const { timeoutMs, repeatable = false } = context;
      if (timeoutMs <= 0) return deadlinePassedRefusal(subject);
      try {
        const headersFor = (remainingMs: number) => requestHeaders({ ...context, timeoutMs: remainingMs }, signatures);
        const options = { timeoutMs: Math.round(timeoutMs), repeatable };
        const response = await caller.send(subject, payload, headersFor, options);
        if (response === 'no-responders') return noHandlerRefusal(subject, await isPresent(subject));
        if (response === 'timeout') return timeoutRefusal(subject, { isWrite: !repeatable });
        return response === 'lost' ? responderLostRefusal(subject) : responseOf(response);
      } catch {
        return busUnavailableRefusal();
      }
    },

    respond: async (subject, handler) => {
      const queue = serviceOfSubject(subject);
      accepted.respondFor(queue);
      const handle = async (message: Msg, signal: AbortSignal): Promise<CallResponse> => {
        let context: ReceivedContext;
        try {
          context = contextOf(message, signatures);
        } catch (error) {
          if (!(error instanceof Refusal)) throw error;
          warnOfLateness(`NATS: ${subject}: ${error.message} Check the load and the clock of this machine.`);
          return { refusal: serializeRefusal(error) };
        }
        return handler(message.string(), { ...context, signal });
      };
      const respond = async (message: Msg): Promise<void> => {
        const { signal, done } = accepted.add(message);
        try {
          const { payload, responseHeaders } = encodeResponse(await handle(message, signal));
          respondInChunks(message, payload, responseHeaders, maxPayloadOf(connection));
        } finally {
          done();
        }
      };
      const subscription = connection.subscribe(subject, {
        queue,
        callback: (error, message) => {
          if (error !== null) return warn(warningOf(error, subject));
          respond(message).catch((failure: Error) =>
            warn(
              `NATS: the response of ${subject} was not sent (${failure.message}). Its caller gets 503 after its timeout.`,
            ),
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
          if (!isConnected || !(await isDrainedInTime(subscription.drain()))) subscription.unsubscribe();
        },
      };
    },

    publish: async (all) => {
      if (!isConnected) throw unavailable('The message bus is disconnected.');
      await streams.publish(all, maxPayloadOf(connection));
    },

    notify: (source) => {
      if (isConnected && !connection.isClosed()) connection.publish(wakeSubjectOf(source));
    },

    commits: undefined,

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

    storage: streams.storage,

    prepareServer: async (producers) => {
      requireSupportedServer(connection);
      await streams.ensure(producers);
    },

    ready: () => {
      if (!isConnected || connection.isClosed()) throw new Error('The message bus is disconnected.');
    },

    close: async () => {
      isClosing = true;
      if (connection.isClosed()) return;
      // A lost server confirms no drain.
      const isDrained = isConnected && (await isDrainedInTime(connection.drain()));
      if (!isDrained) await isDrainedInTime(connection.close());
      caller.disconnected();
    },
  };
}
