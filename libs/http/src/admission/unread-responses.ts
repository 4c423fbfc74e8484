// Own code: no plugin of Fastify bounds the memory of responses that clients do not read (docs/security.md, Limits).
import type { ServerResponse } from 'node:http';
import type { HttpSettings } from '../settings.ts';

/** The bytes of a response that waits for its client. Added and removed as one object. */
interface UnreadBytes {
  readonly clientKey: string;
  readonly bytes: number;
  /** the payload, where several responses share one */
  readonly shared: object | undefined;
}

/** Counts the bytes of responses by client. Those of a shared payload count once: for the response that has waited longest. */
function unreadByteCounts() {
  const bytesByClient = new Map<string, number>();
  /** by shared payload: the responses that wait with it; the bytes count for the first of them */
  const sharersByPayload = new Map<object, Set<UnreadBytes>>();
  let total = 0;

  const count = (clientKey: string, bytes: number): void => {
    total += bytes;
    const unreadBytes = (bytesByClient.get(clientKey) ?? 0) + bytes;
    if (unreadBytes === 0) bytesByClient.delete(clientKey);
    else bytesByClient.set(clientKey, unreadBytes);
  };
  /** Whether the bytes count for this response, and not for one that has waited longer with the same payload. */
  const isCounted = (unread: UnreadBytes): boolean =>
    unread.shared === undefined || sharersByPayload.get(unread.shared)?.values().next().value === unread;

  return {
    /** the bytes of all clients */
    get total() {
      return total;
    },
    ofClient: (clientKey: string): number => bytesByClient.get(clientKey) ?? 0,
    isCounted,
    add: (unread: UnreadBytes): void => {
      const { shared, clientKey, bytes } = unread;
      if (shared !== undefined)
        sharersByPayload.set(shared, (sharersByPayload.get(shared) ?? new Set<UnreadBytes>()).add(unread));
      if (isCounted(unread)) count(clientKey, bytes);
    },
    remove: (unread: UnreadBytes): void => {
      const { shared, clientKey, bytes } = unread;
      const wasCounted = isCounted(unread);
      if (wasCounted) count(clientKey, -bytes);
      const sharers = shared === undefined ? undefined : sharersByPayload.get(shared);
      if (shared === undefined || sharers === undefined) return;
      sharers.delete(unread);
      const [next] = sharers;
      if (next === undefined) sharersByPayload.delete(shared);
      else if (wasCounted) count(next.clientKey, next.bytes);
    },
  };
}

interface Unread extends UnreadBytes {
  /** when the client must have read the whole response; milliseconds of `performance.now()` */
  readonly deadline: number;
  readonly onEnd: UnreadOptions['onEnd'];
}

export interface UnreadOptions {
  /** the payload, where several responses share one: its bytes count once, for the response that has waited longest */
  readonly shared?: object | undefined;
  /** called before the connection is ended because its client does not read */
  readonly onEnd?: () => void;
}

/** Smaller responses fit into the buffers of the operating system, and are not counted. */
const minCountedBytes = 16 * 1024;
/** Minimum speed of a client, beyond the time that `GATEWAY_RESPONSE_READ_TIMEOUT_MS` grants every response. */
const minBytesPerSecond = 64 * 1024;
const checkIntervalMs = 1_000;

/**
 * Bounds the memory of responses that clients do not read. A response that is not read by its deadline ends its connection. When there are
 * more bytes than `GATEWAY_MAX_UNREAD_RESPONSE_BYTES`, the client with most of them loses its oldest connections until the rest is within
 * the limit.
 */
export function unreadResponses({
  GATEWAY_MAX_UNREAD_RESPONSE_BYTES: limit,
  GATEWAY_RESPONSE_READ_TIMEOUT_MS: timeoutMs,
}: Pick<HttpSettings, 'GATEWAY_MAX_UNREAD_RESPONSE_BYTES' | 'GATEWAY_RESPONSE_READ_TIMEOUT_MS'>) {
  /** in the order in which the responses were added */
  const unread = new Map<ServerResponse, Unread>();
  const counts = unreadByteCounts();
  let timer: NodeJS.Timeout | undefined;

  const remove = (response: ServerResponse): void => {
    const pending = unread.get(response);
    if (pending === undefined) return;
    unread.delete(response);
    counts.remove(pending);
    if (unread.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  const end = (response: ServerResponse): void => {
    unread.get(response)?.onEnd?.();
    remove(response);
    response.destroy();
  };
  const endOverdue = (): void => {
    const now = performance.now();
    for (const [response, { deadline }] of unread) if (deadline <= now) end(response);
  };
  const endUntilWithinLimit = (newest: ServerResponse): void => {
    const shared = unread.get(newest)?.shared;
    while (counts.total > limit && unread.size > 1) {
      /** by client: the oldest response whose end frees memory */
      const oldestByClient = new Map<string, ServerResponse>();
      for (const [response, pending] of unread) {
        if (response === newest || oldestByClient.has(pending.clientKey)) continue;
        // Ending it frees nothing: its payload would stay in memory for the newest response.
        if (shared !== undefined && pending.shared === shared) continue;
        if (counts.isCounted(pending)) oldestByClient.set(pending.clientKey, response);
      }
      const [largestClient] = [...oldestByClient.keys()].sort(
        (one, other) => counts.ofClient(other) - counts.ofClient(one),
      );
      const response = largestClient === undefined ? undefined : oldestByClient.get(largestClient);
      // A single payload above the limit is sent nevertheless.
      if (response === undefined) return;
      end(response);
    }
  };

  return {
    /** the bytes of all responses that wait for their clients */
    bytes: (): number => counts.total,
    /**
     * Counts the bytes of a response until it is sent or its connection has ended.
     * @returns a function that stops counting them earlier
     */
    add: (response: ServerResponse, clientKey: string, bytes: number, options: UnreadOptions = {}): (() => void) => {
      const onClose = (): void => remove(response);
      if (bytes < minCountedBytes || response.destroyed) return onClose;
      const deadline = performance.now() + timeoutMs + (bytes / minBytesPerSecond) * 1_000;
      const { shared, onEnd } = options;
      const pending: Unread = { clientKey, bytes, shared, deadline, onEnd };
      unread.set(response, pending);
      counts.add(pending);
      response.once('close', onClose);
      timer ??= setInterval(endOverdue, checkIntervalMs).unref();
      endUntilWithinLimit(response);
      return () => {
        response.off('close', onClose);
        remove(response);
      };
    },
  };
}
export type UnreadResponses = ReturnType<typeof unreadResponses>;
