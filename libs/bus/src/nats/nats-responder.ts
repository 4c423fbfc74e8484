import { headers, type Msg, type MsgHdrs, type NatsConnection } from '@nats-io/transport-node';
import { randomUUID } from 'node:crypto';
import { acceptedByHeader, aliveSubject, checkWhileAny, chunkHeader, isRepeatableCall } from './nats-messages.ts';

/** A repeatable call that takes longer than this is acknowledged with a notice that names its process; a write is immediately. */
const acceptedNoticeMs = 200;

/** The reply subjects of a request; none of one that is no list. An error in a callback of the client would end the connection. */
function parseSubjects(request: string): readonly string[] {
  try {
    const subjects = JSON.parse(request) as unknown;
    return Array.isArray(subjects) ? subjects.filter((subject) => typeof subject === 'string') : [];
  } catch {
    return [];
  }
}

/** Keeps track of the calls that this process is handling, and informs their callers that it still is. */
export function acceptedCalls(connection: NatsConnection) {
  const instance = randomUUID();
  const withoutNotice = new Map<Msg, number>();
  const inProgress = new Set<Msg>();
  let connectionLost = new AbortController();

  const sendNotice = (message: Msg): void => {
    const noticeHeaders = headers();
    noticeHeaders.set(acceptedByHeader, instance);
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

  const respondAlive = (error: Error | null, message: Msg): void => {
    if (error !== null) return;
    const inProgressSubjects = new Set([...inProgress].map(({ reply }) => reply));
    const subjects = parseSubjects(message.string());
    message.respond(JSON.stringify(subjects.filter((subject) => !inProgressSubjects.has(subject))));
  };
  const services = new Set<string>();

  return {
    /** Must be called before calls of a service are received: lets their callers ask whether this process still handles them. */
    respondFor: (service: string): void => {
      if (services.has(service)) return;
      services.add(service);
      connection.subscribe(aliveSubject(service, instance), { callback: respondAlive });
    },

    /** Must be called with each received call, and `done` after the call was handled. The signal is aborted when the connection is lost. */
    add: (message: Msg): { readonly signal: AbortSignal; readonly done: () => void } => {
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

    /** Must be called when the connection is lost: aborts the calls being handled. */
    disconnected: (): void => {
      connectionLost.abort();
      connectionLost = new AbortController();
    },
  };
}

/** Responds to a call, in chunks of at most `chunkBytes`. */
export function respondInChunks(
  message: Msg,
  payload: Uint8Array,
  responseHeaders: MsgHdrs | undefined,
  chunkBytes: number,
): void {
  if (payload.length <= chunkBytes)
    return void message.respond(payload, responseHeaders === undefined ? {} : { headers: responseHeaders });
  const response = `${randomUUID()} ${Math.ceil(payload.length / chunkBytes)}`;
  for (let from = 0; from < payload.length; from += chunkBytes) {
    const chunkHeaders = headers();
    for (const [name, values] of responseHeaders ?? []) for (const value of values) chunkHeaders.append(name, value);
    chunkHeaders.set(chunkHeader, response);
    message.respond(payload.subarray(from, from + chunkBytes), { headers: chunkHeaders });
  }
}
