import type { ServerResponse } from 'node:http';
import type { GatewayConfig } from '../config.ts';

interface Unread {
  readonly clientKey: string;
  readonly bytes: number;
  /** when the client must have read the whole response; milliseconds of `performance.now()` */
  readonly deadline: number;
  readonly options: UnreadOptions;
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
export const unreadResponses = ({
  GATEWAY_MAX_UNREAD_RESPONSE_BYTES: limit,
  GATEWAY_RESPONSE_READ_TIMEOUT_MS: timeoutMs,
}: Pick<GatewayConfig, 'GATEWAY_MAX_UNREAD_RESPONSE_BYTES' | 'GATEWAY_RESPONSE_READ_TIMEOUT_MS'>) => {
  /** in the order in which the responses were added */
  const unread = new Map<ServerResponse, Unread>();
  const bytesOf = new Map<string, number>();
  /** by shared payload: the responses that wait with it; the bytes count for the first of them */
  const responsesByPayload = new Map<object, Set<ServerResponse>>();
  let total = 0;
  let timer: NodeJS.Timeout | undefined;

  const count = (clientKey: string, bytes: number): void => {
    total += bytes;
    const unreadBytes = (bytesOf.get(clientKey) ?? 0) + bytes;
    if (unreadBytes === 0) bytesOf.delete(clientKey);
    else bytesOf.set(clientKey, unreadBytes);
  };
  const isCounted = (response: ServerResponse, { options: { shared } }: Unread): boolean =>
    shared === undefined || responsesByPayload.get(shared)?.values().next().value === response;
  const uncount = (response: ServerResponse, pending: Unread): void => {
    const { shared } = pending.options;
    if (isCounted(response, pending)) count(pending.clientKey, -pending.bytes);
    const sharers = shared === undefined ? undefined : responsesByPayload.get(shared);
    if (shared === undefined || sharers === undefined) return;
    const [first] = sharers;
    sharers.delete(response);
    const [next] = sharers;
    // The bytes of the payload count for the next response that shares it.
    const nextPending = next === undefined || first !== response ? undefined : unread.get(next);
    if (nextPending !== undefined) count(nextPending.clientKey, nextPending.bytes);
    if (next === undefined) responsesByPayload.delete(shared);
  };
  const remove = (response: ServerResponse): void => {
    const pending = unread.get(response);
    if (pending === undefined) return;
    unread.delete(response);
    uncount(response, pending);
    if (unread.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  const end = (response: ServerResponse): void => {
    unread.get(response)?.options.onEnd?.();
    remove(response);
    response.destroy();
  };
  const endOverdue = (): void => {
    const now = performance.now();
    for (const [response, { deadline }] of unread) if (deadline <= now) end(response);
  };
  const endUntilWithinLimit = (newest: ServerResponse): void => {
    const { shared } = unread.get(newest)?.options ?? {};
    while (total > limit && unread.size > 1) {
      /** by client: the oldest response whose end frees memory */
      const oldestByClient = new Map<string, ServerResponse>();
      for (const [response, pending] of unread) {
        if (response === newest || oldestByClient.has(pending.clientKey)) continue;
        // Ending it frees nothing: its payload would stay in memory for the newest response.
        if (shared !== undefined && pending.options.shared === shared) continue;
        if (isCounted(response, pending)) oldestByClient.set(pending.clientKey, response);
      }
      const [largestClient] = [...oldestByClient.keys()].sort(
        (one, other) => (bytesOf.get(other) ?? 0) - (bytesOf.get(one) ?? 0),
      );
      const response = largestClient === undefined ? undefined : oldestByClient.get(largestClient);
      // A single payload above the limit is sent nevertheless.
      if (response === undefined) return;
      end(response);
    }
  };

  return {
    /** the bytes of all responses that wait for their clients */
    bytes: (): number => total,
    /**
     * Counts the bytes of a response until it is sent or its connection has ended.
     * @returns a function that stops counting them earlier
     */
    add: (response: ServerResponse, clientKey: string, bytes: number, options: UnreadOptions = {}): (() => void) => {
      const onClose = (): void => remove(response);
      if (bytes < minCountedBytes || response.destroyed) return onClose;
      const deadline = performance.now() + timeoutMs + (bytes / minBytesPerSecond) * 1_000;
      const pending: Unread = { clientKey, bytes, deadline, options };
      unread.set(response, pending);
      const { shared } = options;
      if (shared !== undefined)
        responsesByPayload.set(shared, (responsesByPayload.get(shared) ?? new Set()).add(response));
      if (isCounted(response, pending)) count(clientKey, bytes);
      response.once('close', onClose);
      timer ??= setInterval(endOverdue, checkIntervalMs).unref();
      endUntilWithinLimit(response);
      return () => {
        response.off('close', onClose);
        remove(response);
      };
    },
  };
};
export type UnreadResponses = ReturnType<typeof unreadResponses>;
