import {
  createInbox,
  headers,
  type Msg,
  type MsgHdrs,
  type NatsConnection,
  RequestError,
} from '@nats-io/transport-node';
import { randomUUID } from 'node:crypto';
import { unknownOutcomeDelayMs } from './deadline.ts';

/** Why there is no answer. `lost`: who had the call is gone, and may have done it or not. */
export type NoResponse = 'nobody' | 'late' | 'lost';

export interface SendOptions {
  readonly timeoutMs: number;
  /** what asking again does no harm to is asked again, of somebody else, when who had it is gone or is not heard of */
  readonly repeatable: boolean;
}

/** What was answered, whole. */
export interface RawResponse {
  readonly headers?: MsgHdrs | undefined;
  readonly data: Uint8Array;
}

/** Whether a call may be sent again, as its caller says; what may not is a write. */
export const isRepeatableCall = ({ headers: carried }: Msg): boolean => (carried?.get(repeatableHeader) ?? '') !== '';

/** Calls over one connection, none of which waits for the dead. */
export interface Calls {
  /** @param carried the headers, for the time that is left in milliseconds */
  send(
    subject: string,
    payload: Uint8Array,
    carried: (leftMs: number) => MsgHdrs,
    options: SendOptions,
  ): Promise<RawResponse | NoResponse>;
  /** Answers a call, in parts of at most so many bytes. */
  respond(message: Msg, payload: Uint8Array, carried: MsgHdrs | undefined, partBytes: number): void;
  /** Must be called with each call as it arrives, and `over` when it is over. The signal is aborted when the connection is lost. */
  accept(message: Msg): { readonly signal: AbortSignal; readonly over: () => void };
  /** The connection is lost: calls that are being answered must change nothing more, and reads that are under way fail. */
  disconnected(): void;
}

/** Names the process that has a call, on what is no answer yet. */
const takenBy = 'Bunting-Taken-By';
const repeatableHeader = 'Bunting-Repeatable';
/** `<which answer> <how many parts it has>`, on each part of an answer that is larger than a message may be. */
const partOf = 'Bunting-Part-Of';

const checkIntervalMs = 250;
/** A call that takes longer than this is heard of, so that who waits knows whom it waits for. */
const acceptedNoticeMs = 200;
/** After this silence the caller asks the process that has the call whether it is still working on it. */
const silenceMs = 750;
const maxAttempts = 3;

interface PendingCall {
  readonly subject: string;
  readonly payload: Uint8Array;
  readonly carried: (leftMs: number) => MsgHdrs;
  readonly repeatable: boolean;
  readonly deadline: number;
  readonly settle: (heard: RawResponse | NoResponse) => void;
  /** of answers that come in parts: what has arrived, in order. There are several when it was asked again. */
  readonly parts: Map<string, Uint8Array[]>;
  asks: number;
  heardAt: number;
  /** who said to have it */
  holder: string | undefined;
}

const aliveSubject = (instance: string): string => `alive.${instance}`;

/** What a process says of the calls that it was asked about, by their tokens; nothing, if it is of an older version. */
const parseEnded = (reply: string): readonly string[] => (reply === '' ? [] : (JSON.parse(reply) as string[]));

/** A look at intervals for as long as there is something to look after. */
const checkWhileAny = (things: { readonly size: number }, look: () => void): (() => void) => {
  let timer: NodeJS.Timeout | undefined;
  return () => {
    timer ??= setInterval(() => {
      if (things.size > 0) return look();
      clearInterval(timer);
      timer = undefined;
    }, checkIntervalMs).unref();
  };
};

/**
 * Calls and their answers, on an inbox of this connection. NATS tells at once when nobody subscribes to a subject, and each process
 * subscribes to one of its own: so whether a process is still there can be asked without waiting, however busy it is.
 */
export const natsCalls = (connection: NatsConnection): Calls => {
  const instance = randomUUID();
  const inbox = createInbox();
  const pending = new Map<string, PendingCall>();
  const unnoted = new Map<Msg, number>();
  const inProgress = new Set<Msg>();
  let connectionLost = new AbortController();
  let calls = 0;
  let lookedAt = performance.now();

  const send = (token: string, call: PendingCall): void => {
    const now = performance.now();
    call.asks++;
    call.heardAt = now;
    call.holder = undefined;
    const carried = call.carried(Math.max(1, Math.round(call.deadline - now)));
    if (call.repeatable) carried.set(repeatableHeader, '1');
    connection.publish(call.subject, call.payload, { reply: `${inbox}.${token}`, headers: carried });
  };

  /** Which of some calls a process has ended; `gone` if it is no longer connected. One that does not answer is busy or stopped. */
  const endedBy = (holder: string, tokens: readonly string[]): Promise<readonly string[] | 'gone'> =>
    connection
      .request(aliveSubject(holder), JSON.stringify(tokens.map((token) => `${inbox}.${token}`)), { timeout: silenceMs })
      .then(
        (reply) => parseEnded(reply.string()).map((subject) => subject.slice(inbox.length + 1)),
        (error: unknown) => (error instanceof RequestError && error.isNoResponders() ? 'gone' : []),
      );

  const giveUp = (token: string, call: PendingCall): void => {
    if (call.repeatable && call.asks < maxAttempts) send(token, call);
    else call.settle('lost');
  };

  /** A call whose process is gone, or has ended it without an answer that arrived, will not be answered. */
  const lookAfterHolder = async (holder: string, tokens: readonly string[]): Promise<void> => {
    const ended = await endedBy(holder, tokens);
    for (const token of ended === 'gone' ? tokens : ended) {
      const call = pending.get(token);
      if (call?.holder === holder) giveUp(token, call);
    }
  };

  const lookAfterCalls = (): void => {
    const now = performance.now();
    // We were busy ourselves: what was said meanwhile is not heard yet.
    const wasBusy = now - lookedAt > 2 * checkIntervalMs;
    lookedAt = now;
    if (wasBusy) return;
    const silent = new Map<string, string[]>();
    for (const [token, call] of pending) {
      if (now - call.heardAt < silenceMs) continue;
      if (call.holder !== undefined) {
        call.heardAt = now;
        silent.set(call.holder, [...(silent.get(call.holder) ?? []), token]);
      } else if (call.repeatable && call.asks < maxAttempts) send(token, call);
    }
    for (const [holder, tokens] of silent) void lookAfterHolder(holder, tokens);
  };
  const watchCalls = checkWhileAny(pending, lookAfterCalls);

  const note = (message: Msg): void => {
    const carried = headers();
    carried.set(takenBy, instance);
    message.respond(undefined, { headers: carried });
  };
  const watchTaken = checkWhileAny(unnoted, () => {
    const now = performance.now();
    for (const [message, since] of unnoted) {
      if (now - since < acceptedNoticeMs) continue;
      unnoted.delete(message);
      note(message);
    }
  });

  /** Settles the call when the last part of an answer has come. Who answers sends them in order, and NATS keeps it. */
  const takePart = (call: PendingCall, of: string, { headers: carried, data }: Msg): void => {
    call.heardAt = performance.now();
    const parts = call.parts.get(of) ?? [];
    call.parts.set(of, parts);
    parts.push(data);
    if (parts.length === Number(of.split(' ')[1])) call.settle({ headers: carried, data: Buffer.concat(parts) });
  };

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
      const holder = message.headers?.get(takenBy) ?? '';
      const part = message.headers?.get(partOf) ?? '';
      if (part !== '') return takePart(call, part, message);
      if (holder !== '') {
        call.holder = holder;
        call.heardAt = performance.now();
      } else if (message.data.length === 0 && message.headers?.code === 503) {
        call.settle('nobody');
      } else call.settle(message);
    },
  });

  return {
    send: (subject, payload, carried, { timeoutMs, repeatable }) =>
      new Promise((resolve) => {
        const token = (calls++).toString(36);
        const now = performance.now();
        const settle = (heard: RawResponse | NoResponse): void => {
          clearTimeout(timer);
          if (pending.delete(token)) resolve(heard);
        };
        // A write may still be committed until its deadline: whether it was is reported once that cannot change any more. An
        // answer that arrived while this process stood still is read before the call is given up.
        const waitMs = timeoutMs + (repeatable ? 0 : unknownOutcomeDelayMs);
        const timer = setTimeout(() => setImmediate(() => settle('late')), waitMs);
        const call: PendingCall = {
          subject,
          payload,
          carried,
          repeatable,
          deadline: now + timeoutMs,
          settle,
          parts: new Map(),
          asks: 0,
          heardAt: now,
          holder: undefined,
        };
        if (pending.size === 0) lookedAt = now;
        pending.set(token, call);
        watchCalls();
        send(token, call);
      }),

    respond: (message, payload, carried, partBytes) => {
      if (payload.length <= partBytes)
        return void message.respond(payload, carried === undefined ? {} : { headers: carried });
      const of = `${randomUUID()} ${Math.ceil(payload.length / partBytes)}`;
      for (let from = 0; from < payload.length; from += partBytes) {
        const onPart = headers();
        for (const [name, values] of carried ?? []) for (const value of values) onPart.append(name, value);
        onPart.set(partOf, of);
        message.respond(payload.subarray(from, from + partBytes), { headers: onPart });
      }
    },

    accept: (message) => {
      inProgress.add(message);
      if (isRepeatableCall(message)) {
        unnoted.set(message, performance.now());
        watchTaken();
      } else note(message);
      return {
        signal: connectionLost.signal,
        over: () => {
          inProgress.delete(message);
          unnoted.delete(message);
        },
      };
    },

    disconnected: () => {
      connectionLost.abort();
      connectionLost = new AbortController();
      for (const call of pending.values()) if (call.repeatable) call.settle('lost');
    },
  };
};
