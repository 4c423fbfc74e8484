import type { Msg } from '@nats-io/transport-node';

/*
 * Caller and responder, beyond request and reply: a response comes in chunks, a responder names its process on a notice that precedes the
 * response, and each process subscribes to a subject of its own, on which a caller asks whether it is still handling its calls.
 */

/** Names the process that accepted a call, on a notice that precedes the response. */
export const acceptedBy = 'Bunting-Taken-By';
/** Marks a call that may be sent to another responder. */
export const repeatableHeader = 'Bunting-Repeatable';
/** `<response id> <number of chunks>`, on each chunk of a response that is larger than a message may be. */
export const chunkOf = 'Bunting-Part-Of';

/** Whether the caller marked a call as repeatable; other calls are writes. */
export const isRepeatableCall = (message: Msg): boolean => (message.headers?.get(repeatableHeader) ?? '') !== '';

/** The subject of a process, to which it says which of the given calls it is not handling. */
export const aliveSubject = (instance: string): string => `alive.${instance}`;

/** The interval of checks of calls without a response. */
export const checkIntervalMs = 250;
/** Runs a check at intervals while a collection is not empty. Call the result after each addition. */
export const checkWhileAny = (items: { readonly size: number }, check: () => void): (() => void) => {
  let timer: NodeJS.Timeout | undefined;
  return () => {
    timer ??= setInterval(() => {
      if (items.size > 0) return check();
      clearInterval(timer);
      timer = undefined;
    }, checkIntervalMs).unref();
  };
};
