import type { Msg } from '@nats-io/transport-node';

/*
 * The protocol of calls, beyond request and reply of NATS: a large response is sent in chunks; a responder sends a notice with the id of its
 * process before the response; and each process subscribes to a subject of its own, on which callers check whether it still handles their
 * calls.
 */

/** The id of the process that accepted a call, at the end of its `aliveSubject`: the header of the notice that precedes the response. */
export const acceptedByHeader = 'Bunting-Taken-By';
/** Marks a call that may be sent to another responder. */
export const repeatableHeader = 'Bunting-Repeatable';
/** `<response id> <number of chunks>`, on each chunk of a response that is larger than a message may be. */
export const chunkHeader = 'Bunting-Part-Of';

/** Whether the caller marked a call as repeatable; other calls are writes. */
export const isRepeatableCall = (message: Msg): boolean => (message.headers?.get(repeatableHeader) ?? '') !== '';

/** The subject of a process, which gets the reply subjects of calls on it, and replies with those whose calls it is not handling. */
export const aliveSubject = (service: string, process: string): string => `alive.${service}.${process}`;

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
