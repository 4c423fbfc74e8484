/** What a runtime keeps beyond the memory of one instance, such as a namespace of Workers KV. */
export interface TextStore {
  get(key: string): Promise<string | null>;
  put(key: string, text: string): Promise<void>;
}

/** Runs work that a response does not wait for, until it has ended: `waitUntil` of Workers. */
export type InBackground = (work: Promise<unknown>) => void;

export interface KeptOptions<T> {
  /** Reads the value anew. @param held the value before; the same object is returned where nothing has changed */
  readonly read: (held: T | undefined) => Promise<T>;
  /** Whether the failure shows that the value is not valid any more. */
  readonly isLost: (error: unknown) => boolean;
  /** milliseconds after which a value is read again beside the response */
  readonly refreshMs: number;
  /** milliseconds after which a response waits for it */
  readonly maxAgeMs: number;
  /** milliseconds between two attempts after a failure */
  readonly retryMs: number;
  /** milliseconds that a response waits at most */
  readonly waitMs: number;
  readonly store: TextStore | undefined;
  readonly key: string;
  /** the text for the store; undefined for a value that is not stored */
  readonly serialize: (value: T) => string | undefined;
  readonly parse: (text: string) => T;
}

/** A value with the time at which its origin last confirmed it, in milliseconds since 1970. */
export interface Confirmed<T> {
  readonly value: T;
  readonly confirmedAt: number;
}

const pause = (ms: number): Promise<undefined> => new Promise((resolve) => setTimeout(() => resolve(undefined), ms));

/**
 * Keeps a value of the origin in memory: it is read again beside responses once it is older than `refreshMs`, before a response once it is
 * older than `maxAgeMs`, and served as it is while it cannot be read. Without one in memory, that of the store is served if the origin fails.
 */
export function kept<T>(options: KeptOptions<T>) {
  const { read, isLost, refreshMs, maxAgeMs, retryMs, waitMs, store, key, serialize, parse } = options;
  let held: Confirmed<T> | undefined;
  let refreshing: Promise<void> | undefined;
  let retryAt = 0;
  let failure: unknown;

  const remember = async ({ value, confirmedAt }: Confirmed<T>): Promise<void> => {
    const text = store === undefined ? undefined : serialize(value);
    // A store that fails takes nothing from a response.
    if (text !== undefined) await store?.put(key, JSON.stringify({ confirmedAt, text })).catch(() => undefined);
  };
  const remembered = async (): Promise<Confirmed<T> | undefined> => {
    try {
      const text = (await store?.get(key)) ?? null;
      if (text === null) return undefined;
      const { confirmedAt, text: value } = JSON.parse(text) as { readonly confirmedAt: number; readonly text: string };
      return { value: parse(value), confirmedAt };
    } catch {
      return undefined;
    }
  };

  const refresh = async (): Promise<void> => {
    try {
      const value = await read(held?.value);
      const isChanged = value !== held?.value;
      held = { value, confirmedAt: Date.now() };
      failure = undefined;
      if (isChanged) await remember(held);
    } catch (error) {
      failure = error;
      const { retryAfterMs = 0 } = error as { readonly retryAfterMs?: number | undefined };
      retryAt = Date.now() + Math.max(retryMs, retryAfterMs);
      if (isLost(error)) held = undefined;
      else held ??= await remembered();
    } finally {
      refreshing = undefined;
    }
  };
  const begin = (inBackground: InBackground): Promise<void> => {
    if (refreshing !== undefined) return refreshing;
    const work = refresh();
    refreshing = work;
    // The request that began it may end first, and with it all that it does not wait for.
    inBackground(work);
    return work;
  };

  /** The value, as new as the origin gives it. @throws what reading threw, where there is none */
  return async (inBackground: InBackground): Promise<Confirmed<T>> => {
    const age = held === undefined ? Number.POSITIVE_INFINITY : Date.now() - held.confirmedAt;
    if (age >= refreshMs && Date.now() >= retryAt) {
      const work = begin(inBackground);
      if (age >= maxAgeMs) {
        await Promise.race([work, pause(waitMs)]);
        // A reading whose request has ended never ends itself: the next response begins another one.
        if (refreshing === work) refreshing = undefined;
      }
    }
    if (held !== undefined) return held;
    throw failure ?? new Error('The origin has not answered in time.');
  };
}
