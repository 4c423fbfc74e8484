import {
  createInbox,
  headers,
  type Msg,
  type MsgHdrs,
  type NatsConnection,
  RequestError,
} from '@nats-io/transport-node';
import { randomUUID } from 'node:crypto';
import { unknownOutcomeDelayMs } from '../deadline.ts';

/** Why a call has no response. `lost`: the responder is gone, and may or may not have executed the call. */
export type NoResponse = 'no-responders' | 'timeout' | 'lost';

export interface SendOptions {
  readonly timeoutMs: number;
  /** whether the call is retried with another responder when its responder is lost or silent */
  readonly repeatable: boolean;
}

/** A complete response. */
export interface RawResponse {
  readonly headers?: MsgHdrs | undefined;
  readonly data: Uint8Array;
}

/** Whether the caller marked a call as repeatable; other calls are writes. */
export const isRepeatableCall = (message: Msg): boolean => (message.headers?.get(repeatableHeader) ?? '') !== '';

/** Names the process that accepted a call, on a notice that precedes the response. */
const acceptedBy = 'Bunting-Taken-By';
const repeatableHeader = 'Bunting-Repeatable';
/** `<response id> <number of chunks>`, on each chunk of a response that is larger than a message may be. */
const chunkOf = 'Bunting-Part-Of';

const checkIntervalMs = 250;
/** A repeatable call that takes longer than this is acknowledged with a notice that names its process. */
const acceptedNoticeMs = 200;
/** After this silence the caller checks whether the process that accepted the call is still handling it. */
const silenceMs = 750;
const maxAttempts = 3;

interface PendingCall {
  readonly subject: string;
  readonly payload: Uint8Array;
  readonly headersFor: (leftMs: number) => MsgHdrs;
  readonly repeatable: boolean;
  readonly deadline: number;
  readonly settle: (response: RawResponse | NoResponse) => void;
  /** the chunks received so far, in order, by response: a repeated call may have several */
  readonly chunks: Map<string, Uint8Array[]>;
  attempts: number;
  lastSeenAt: number;
  /** the process that accepted the call */
  responder: string | undefined;
}

const aliveSubject = (instance: string): string => `alive.${instance}`;

/** The reply subjects that a process reports as ended; none from an older version. */
const parseEnded = (reply: string): readonly string[] => (reply === '' ? [] : (JSON.parse(reply) as string[]));

/** Runs a check at intervals while a collection is not empty. Call the result after each addition. */
const checkWhileAny = (items: { readonly size: number }, check: () => void): (() => void) => {
  let timer: NodeJS.Timeout | undefined;
  return () => {
    timer ??= setInterval(() => {
      if (items.size > 0) return check();
      clearInterval(timer);
      timer = undefined;
    }, checkIntervalMs).unref();
  };
};

/** Settles the call with the last chunk of a response. The responder sends them in order, and NATS keeps the order. */
const addChunk = (call: PendingCall, response: string, { headers: responseHeaders, data }: Msg): void => {
  call.lastSeenAt = performance.now();
  const chunks = call.chunks.get(response) ?? [];
  call.chunks.set(response, chunks);
  chunks.push(data);
  if (chunks.length === Number(response.split(' ')[1]))
    call.settle({ headers: responseHeaders, data: Buffer.concat(chunks) });
};

/** Responds to a call, in chunks of at most `chunkBytes`. */
export const respondInChunks = (
  message: Msg,
  payload: Uint8Array,
  responseHeaders: MsgHdrs | undefined,
  chunkBytes: number,
): void => {
  if (payload.length <= chunkBytes)
    return void message.respond(payload, responseHeaders === undefined ? {} : { headers: responseHeaders });
  const response = `${randomUUID()} ${Math.ceil(payload.length / chunkBytes)}`;
  for (let from = 0; from < payload.length; from += chunkBytes) {
    const chunkHeaders = headers();
    for (const [name, values] of responseHeaders ?? []) for (const value of values) chunkHeaders.append(name, value);
    chunkHeaders.set(chunkOf, response);
    message.respond(payload.subarray(from, from + chunkBytes), { headers: chunkHeaders });
  }
};

/**
 * Sends and handles calls over an inbox of this connection. NATS reports immediately when a subject has no subscriber, and each process
 * subscribes to a subject of its own. So a disconnected process is detected without a timeout, and a busy one is not mistaken for it.
 */
export const natsCalls = (connection: NatsConnection, inboxPrefix: string) => {
  const instance = randomUUID();
  const inbox = createInbox(inboxPrefix);
  const pending = new Map<string, PendingCall>();
  const withoutNotice = new Map<Msg, number>();
  const inProgress = new Set<Msg>();
  let connectionLost = new AbortController();
  let calls = 0;
  let checkedAt = performance.now();

  const publish = (token: string, call: PendingCall): void => {
    const now = performance.now();
    call.attempts++;
    call.lastSeenAt = now;
    call.responder = undefined;
    const requestHeaders = call.headersFor(Math.max(1, Math.round(call.deadline - now)));
    if (call.repeatable) requestHeaders.set(repeatableHeader, '1');
    connection.publish(call.subject, call.payload, { reply: `${inbox}.${token}`, headers: requestHeaders });
  };

  /** Those of the calls that a process has ended; `gone` if it is no longer connected. A process that does not respond is busy or suspended. */
  const endedBy = (responder: string, tokens: readonly string[]): Promise<readonly string[] | 'gone'> =>
    connection
      .request(aliveSubject(responder), JSON.stringify(tokens.map((token) => `${inbox}.${token}`)), {
        timeout: silenceMs,
      })
      .then(
        (reply) => parseEnded(reply.string()).map((subject) => subject.slice(inbox.length + 1)),
        (error: unknown) => (error instanceof RequestError && error.isNoResponders() ? 'gone' : []),
      );

  const giveUp = (token: string, call: PendingCall): void => {
    if (call.repeatable && call.attempts < maxAttempts) publish(token, call);
    else call.settle('lost');
  };

  /** Rejects the calls whose process is no longer connected, or has finished them and whose response was lost. */
  const checkResponder = async (responder: string, tokens: readonly string[]): Promise<void> => {
    const ended = await endedBy(responder, tokens);
    for (const token of ended === 'gone' ? tokens : ended) {
      const call = pending.get(token);
      if (call?.responder === responder) giveUp(token, call);
    }
  };

  const checkCalls = (): void => {
    const now = performance.now();
    // The event loop was blocked: messages that have arrived since are not read yet.
    const wasBusy = now - checkedAt > 2 * checkIntervalMs;
    checkedAt = now;
    if (wasBusy) return;
    const silent = new Map<string, string[]>();
    for (const [token, call] of pending) {
      if (now - call.lastSeenAt < silenceMs) continue;
      if (call.responder !== undefined) {
        call.lastSeenAt = now;
        silent.set(call.responder, [...(silent.get(call.responder) ?? []), token]);
      } else if (call.repeatable && call.attempts < maxAttempts) publish(token, call);
    }
    for (const [responder, tokens] of silent) void checkResponder(responder, tokens);
  };
  const watchCalls = checkWhileAny(pending, checkCalls);

  const sendNotice = (message: Msg): void => {
    const noticeHeaders = headers();
    noticeHeaders.set(acceptedBy, instance);
    message.respond(undefined, { headers: noticeHeaders });
  };
  const watchAccepted = checkWhileAny(withoutNotice, () => {
    const now = performance.now();
    for (const [message, since] of withoutNotice) {
      if (now - since < acceptedNoticeMs) continue;
      withoutNotice.delete(message);
      sendNotice(message);
    }
  });

  connection.subscribe(aliveSubject(instance), {
    callback: (error, message) => {
      if (error !== null) return;
      const request = message.string();
      if (request === '') return void message.respond();
      const working = new Set([...inProgress].map(({ reply }) => reply));
      message.respond(JSON.stringify((JSON.parse(request) as string[]).filter((subject) => !working.has(subject))));
    },
  });
  connection.subscribe(`${inbox}.*`, {
    callback: (error, message) => {
      const token = message.subject.slice(inbox.length + 1);
      const call = pending.get(token);
      if (error !== null || call === undefined) return;
      const responder = message.headers?.get(acceptedBy) ?? '';
      const chunk = message.headers?.get(chunkOf) ?? '';
      if (chunk !== '') return addChunk(call, chunk, message);
      if (responder !== '') {
        call.responder = responder;
        call.lastSeenAt = performance.now();
      } else if (message.data.length === 0 && message.headers?.code === 503) {
        call.settle('no-responders');
      } else call.settle(message);
    },
  });

  return {
    /** @param headersFor the request headers, by the time left in milliseconds */
    send: (
      subject: string,
      payload: Uint8Array,
      headersFor: (leftMs: number) => MsgHdrs,
      { timeoutMs, repeatable }: SendOptions,
    ): Promise<RawResponse | NoResponse> =>
      new Promise((resolve) => {
        const token = (calls++).toString(36);
        const now = performance.now();
        const settle = (response: RawResponse | NoResponse): void => {
          clearTimeout(timer);
          if (pending.delete(token)) resolve(response);
        };
        // A write may commit until its deadline: an unknown outcome is reported when it can no longer change. A response that
        // arrived while this process was blocked is read before the call times out.
        const waitMs = timeoutMs + (repeatable ? 0 : unknownOutcomeDelayMs);
        const timer = setTimeout(() => setImmediate(() => settle('timeout')), waitMs);
        const call: PendingCall = {
          subject,
          payload,
          headersFor,
          repeatable,
          deadline: now + timeoutMs,
          settle,
          chunks: new Map(),
          attempts: 0,
          lastSeenAt: now,
          responder: undefined,
        };
        if (pending.size === 0) checkedAt = now;
        pending.set(token, call);
        watchCalls();
        publish(token, call);
      }),

    /** Must be called with each received call, and `done` after the call was handled. The signal is aborted when the connection is lost. */
    accept: (message: Msg): { readonly signal: AbortSignal; readonly done: () => void } => {
      inProgress.add(message);
      if (isRepeatableCall(message)) {
        withoutNotice.set(message, performance.now());
        watchAccepted();
      } else sendNotice(message);
      return {
        signal: connectionLost.signal,
        done: () => {
          inProgress.delete(message);
          withoutNotice.delete(message);
        },
      };
    },

    /** Must be called when the connection is lost: aborts the calls being handled, and fails pending reads. */
    disconnected: (): void => {
      connectionLost.abort();
      connectionLost = new AbortController();
      for (const call of pending.values()) if (call.repeatable) call.settle('lost');
    },
  };
};
export type Calls = ReturnType<typeof natsCalls>;
