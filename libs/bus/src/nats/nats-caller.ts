import { createInbox, type Msg, type MsgHdrs, type NatsConnection, RequestError } from '@nats-io/transport-node';
import { unknownOutcomeDelayMs } from '../deadline.ts';
import { serviceOfSubject } from '../presence.ts';
import {
  acceptedByHeader,
  aliveSubject,
  checkIntervalMs,
  checkWhileAny,
  chunkHeader,
  repeatableHeader,
} from './nats-messages.ts';

/** Why a call has no response. `lost`: its responder was disconnected, and may or may not have executed the call. */
type NoResponse = 'no-responders' | 'timeout' | 'lost';

interface SendOptions {
  readonly timeoutMs: number;
  /** whether the call is retried with another responder when its responder is lost or silent */
  readonly repeatable: boolean;
}

/** A complete response. */
export interface RawResponse {
  readonly headers?: MsgHdrs | undefined;
  readonly data: Uint8Array;
}

/** After this silence the caller checks whether the process that accepted the call is still handling it. */
const silenceMs = 750;
const maxAttempts = 3;

interface PendingCall {
  readonly subject: string;
  readonly payload: Uint8Array;
  readonly headersFor: (remainingMs: number) => MsgHdrs;
  readonly repeatable: boolean;
  readonly deadline: number;
  readonly settle: (response: RawResponse | NoResponse) => void;
  /** the chunks received so far, in order, by response: a repeated call may have several */
  readonly chunks: Map<string, Uint8Array[]>;
  attempts: number;
  lastSeenAt: number;
  /** the subject of the process that accepted the call */
  responder: string | undefined;
}

/** Adds a chunk of a response, and settles the call with the last one. The responder sends chunks in order, and NATS keeps the order. */
function addChunk(call: PendingCall, response: string, { headers: responseHeaders, data }: Msg): void {
  call.lastSeenAt = performance.now();
  const chunks = call.chunks.get(response) ?? [];
  call.chunks.set(response, chunks);
  chunks.push(data);
  if (chunks.length === Number(response.split(' ')[1]))
    call.settle({ headers: responseHeaders, data: Buffer.concat(chunks) });
}

/**
 * Sends calls with an inbox of this connection. NATS reports immediately when a subject has no subscriber, and each process subscribes to
 * a subject of its own. So a disconnected process is detected without a timeout, and a busy one is not mistaken for it.
 */
export function natsCaller(connection: NatsConnection, inboxPrefix: string) {
  const inbox = createInbox(inboxPrefix);
  const pending = new Map<string, PendingCall>();
  let calls = 0;
  let checkedAt = performance.now();

  /** @throws Error when the connection is closed, or about to be */
  const publish = (token: string, call: PendingCall): void => {
    const now = performance.now();
    call.attempts++;
    call.lastSeenAt = now;
    call.responder = undefined;
    const requestHeaders = call.headersFor(Math.max(1, Math.round(call.deadline - now)));
    if (call.repeatable) requestHeaders.set(repeatableHeader, '1');
    connection.publish(call.subject, call.payload, { reply: `${inbox}.${token}`, headers: requestHeaders });
  };

  /** Sends a call once more. It is lost where the connection has been closed meanwhile: timers run this, in which an error would end the process. */
  const repeat = (token: string, call: PendingCall): void => {
    try {
      publish(token, call);
    } catch {
      call.settle('lost');
    }
  };

  /** The tokens of the calls that a process no longer handles; `gone` if it is disconnected. A process that does not respond is busy or suspended. */
  const endedBy = (responder: string, tokens: readonly string[]): Promise<readonly string[] | 'gone'> =>
    connection
      .request(responder, JSON.stringify(tokens.map((token) => `${inbox}.${token}`)), {
        timeout: silenceMs,
      })
      .then((reply) => reply.json<string[]>().map((subject) => subject.slice(inbox.length + 1)))
      .catch((error: unknown) => (error instanceof RequestError && error.isNoResponders() ? 'gone' : []));

  const retryOrFail = (token: string, call: PendingCall): void => {
    if (call.repeatable && call.attempts < maxAttempts) repeat(token, call);
    else call.settle('lost');
  };

  /** Retries or fails the calls whose process is disconnected, or no longer handles them although no response has arrived. */
  const checkResponder = async (responder: string, tokens: readonly string[]): Promise<void> => {
    const ended = await endedBy(responder, tokens);
    for (const token of ended === 'gone' ? tokens : ended) {
      const call = pending.get(token);
      if (call?.responder === responder) retryOrFail(token, call);
    }
  };

  const checkCalls = (): void => {
    const now = performance.now();
    // While the event loop was blocked messages may have arrived, which are not read yet.
    const wasBlocked = now - checkedAt > 2 * checkIntervalMs;
    checkedAt = now;
    if (wasBlocked) return;
    const silentCalls = new Map<string, string[]>();
    for (const [token, call] of pending) {
      if (now - call.lastSeenAt < silenceMs) continue;
      if (call.responder !== undefined) {
        call.lastSeenAt = now;
        silentCalls.set(call.responder, [...(silentCalls.get(call.responder) ?? []), token]);
      } else if (call.repeatable && call.attempts < maxAttempts) repeat(token, call);
    }
    for (const [responder, tokens] of silentCalls) void checkResponder(responder, tokens);
  };
  const watchCalls = checkWhileAny(pending, checkCalls);

  connection.subscribe(`${inbox}.*`, {
    callback: (error, message) => {
      const token = message.subject.slice(inbox.length + 1);
      const call = pending.get(token);
      if (error !== null || call === undefined) return;
      const responder = message.headers?.get(acceptedByHeader) ?? '';
      const chunk = message.headers?.get(chunkHeader) ?? '';
      if (chunk !== '') return addChunk(call, chunk, message);
      if (responder !== '') {
        call.responder = aliveSubject(serviceOfSubject(call.subject), responder);
        call.lastSeenAt = performance.now();
      } else if (message.data.length === 0 && message.headers?.code === 503) {
        call.settle('no-responders');
      } else call.settle(message);
    },
  });

  return {
    /** @param headersFor returns the request headers, which carry the milliseconds until the deadline */
    send: (
      subject: string,
      payload: Uint8Array,
      headersFor: (remainingMs: number) => MsgHdrs,
      { timeoutMs, repeatable }: SendOptions,
    ): Promise<RawResponse | NoResponse> =>
      new Promise((resolve, reject) => {
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
        try {
          publish(token, call);
        } catch (error) {
          clearTimeout(timer);
          pending.delete(token);
          reject(error as Error);
        }
      }),

    /** Must be called when the connection is lost or closed: fails the pending repeatable calls. Writes may still get their response or a timeout. */
    disconnected: (): void => {
      for (const call of pending.values()) if (call.repeatable) call.settle('lost');
    },
  };
}
