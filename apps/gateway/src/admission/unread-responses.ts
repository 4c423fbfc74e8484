import type { ServerResponse } from 'node:http';
import type { GatewayConfig } from '../config.ts';

export interface UnreadResponses {
  /** Counts the bytes of an answer, until all of it is sent or its connection has ended. */
  add(response: ServerResponse, holder: string, bytes: number): void;
  /** the bytes of all answers that wait for their readers */
  bytes(): number;
}

interface Unread {
  readonly holder: string;
  readonly bytes: number;
  /** when the reader must have taken all of it; milliseconds of `performance.now()` */
  readonly deadline: number;
}

/** Smaller answers fit into the buffers of the operating system, and are not counted. */
const minCountedBytes = 16 * 1024;
/** The least that a reader must take in a second, beyond what `GATEWAY_RESPONSE_READ_TIMEOUT_MS` grants every answer. */
const minBytesPerSecond = 64 * 1024;
const checkEveryMs = 1_000;

/**
 * Bounds the memory that answers take while their clients do not read them. An answer that is not read by its deadline ends its
 * connection. When there are more bytes than `GATEWAY_MAX_UNREAD_RESPONSE_BYTES`, the client with most of them loses the connections that have waited
 * longest, until the rest is within the limit.
 */
export const unreadResponses = ({
  GATEWAY_MAX_UNREAD_RESPONSE_BYTES: limit,
  GATEWAY_RESPONSE_READ_TIMEOUT_MS: timeoutMs,
}: Pick<GatewayConfig, 'GATEWAY_MAX_UNREAD_RESPONSE_BYTES' | 'GATEWAY_RESPONSE_READ_TIMEOUT_MS'>): UnreadResponses => {
  // In the order in which the answers were given.
  const unread = new Map<ServerResponse, Unread>();
  const bytesOf = new Map<string, number>();
  let total = 0;
  let timer: NodeJS.Timeout | undefined;

  const count = (holder: string, bytes: number): void => {
    total += bytes;
    const held = (bytesOf.get(holder) ?? 0) + bytes;
    if (held === 0) bytesOf.delete(holder);
    else bytesOf.set(holder, held);
  };
  const remove = (response: ServerResponse): void => {
    const answer = unread.get(response);
    if (answer === undefined) return;
    unread.delete(response);
    count(answer.holder, -answer.bytes);
    if (unread.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  const end = (response: ServerResponse): void => {
    remove(response);
    response.destroy();
  };
  const endLate = (): void => {
    const now = performance.now();
    for (const [response, { deadline }] of unread) if (deadline <= now) end(response);
  };
  const endUntilWithin = (newest: ServerResponse): void => {
    while (total > limit && unread.size > 1) {
      const [most] = [...bytesOf].reduce((one, other) => (other[1] > one[1] ? other : one));
      const oldest = [...unread].find(([response, { holder }]) => holder === most && response !== newest);
      // An answer that is larger than the limit by itself is given all the same.
      if (oldest === undefined) return;
      end(oldest[0]);
    }
  };

  return {
    bytes: () => total,
    add: (response, holder, bytes) => {
      if (bytes < minCountedBytes || response.destroyed) return;
      const deadline = performance.now() + timeoutMs + (bytes / minBytesPerSecond) * 1_000;
      unread.set(response, { holder, bytes, deadline });
      count(holder, bytes);
      response.once('close', () => remove(response));
      timer ??= setInterval(endLate, checkEveryMs).unref();
      endUntilWithin(response);
    },
  };
};
