/** The bytes of a response that waits for its client. Added and removed as one object. */
export interface UnreadBytes {
  readonly clientKey: string;
  readonly bytes: number;
  /** the payload, where several responses share one */
  readonly shared: object | undefined;
}

/** Counts the bytes of responses by client. Those of a shared payload count once: for the response that has waited longest. */
export const unreadByteCounts = () => {
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
};
