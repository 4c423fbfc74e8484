import { OriginError } from '../upstream/origin-error.ts';

/** What a runtime keeps beyond the memory of one instance, such as a namespace of Workers KV. */
export interface TextStore {
  get(key: string): Promise<string | null>;
  /** @param options how many seconds the text is of use; a store may keep it for longer */
  put(key: string, text: string, options: { readonly expirationTtl: number }): Promise<void>;
}

/** Runs work that a response does not wait for, until it has ended: `waitUntil` of Workers. */
export type InBackground = (work: Promise<unknown>) => void;

/** A request that is being answered. */
export interface Waiting {
  readonly inBackground: InBackground;
  /** until when it waits for the origin, in milliseconds since 1970 */
  readonly until: number;
}

export interface Reading<T> {
  /** the same object as before where nothing has changed */
  readonly value: T;
  /** how many milliseconds old it is by the account of the origin */
  readonly staleMs: number;
}

/** How a value is kept. Times are milliseconds. */
export interface KeepingOptions {
  /** after which a value is read again beside the response */
  readonly refreshMs: number;
  /** after which a response waits for it */
  readonly maxAgeMs: number;
  /** between two attempts after a failure */
  readonly retryMs: number;
  /** after which a reading counts as lost: the runtime ends the work of a request that has ended */
  readonly readingMs: number;
  readonly store: TextStore | undefined;
  /** how long a stored value is of use; one that stays the same is stored again in between */
  readonly storedMs: number;
}

export interface KeptOptions<T> extends KeepingOptions {
  /** Reads the value anew. @param held the value before */
  readonly read: (held: T | undefined) => Promise<Reading<T>>;
  /** Whether the failure shows that the value is not valid any more. */
  readonly isLost: (error: unknown) => boolean;
  readonly key: string;
  /** the text for the store; undefined for a value that says that there is none */
  readonly serialize: (value: T) => string | undefined;
  readonly parse: (text: string) => T;
}

/** A value with the time at which it was current at the origin, in milliseconds since 1970. */
export interface Confirmed<T> {
  readonly value: T;
  readonly confirmedAt: number;
  /** how old it was by the account of the origin when it was read */
  readonly originStaleMs: number;
}

interface Stored {
  readonly confirmedAt: number;
  /** null where the value was lost */
  readonly text: string | null;
}

/** Tells whether something was so three times in a row, over three seconds: no single answer ends what is served. */
export function repeatedly() {
  let [count, since] = [0, 0];
  return (isSo: boolean): boolean => {
    if (count === 0) since = Date.now();
    count = isSo ? count + 1 : 0;
    return count >= 3 && Date.now() - since >= 3_000;
  };
}

function pauseUntil(time: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, time - Date.now())));
}

/** Texts of the store, which takes nothing from a response if it fails. */
function storedValue<T>({ store, key, storedMs, serialize, parse }: KeptOptions<T>) {
  let storedAt = 0;
  let isStored = false;
  const put = async (stored: Stored): Promise<void> => {
    storedAt = Date.now();
    isStored = stored.text !== null;
    await store?.put(key, JSON.stringify(stored), { expirationTtl: storedMs / 1_000 }).catch(() => undefined);
  };
  return {
    /** Stores a value that has changed, or was stored long ago. A value that says that there is none replaces one that was stored. */
    set: async ({ value, confirmedAt }: Confirmed<T>, isChanged: boolean): Promise<void> => {
      if (store === undefined || (!isChanged && Date.now() - storedAt < storedMs / 24)) return;
      const text = serialize(value) ?? null;
      if (text !== null || isStored) await put({ confirmedAt, text });
    },
    remove: async (): Promise<void> => {
      if (store !== undefined && isStored) await put({ confirmedAt: Date.now(), text: null });
    },
    get: async (): Promise<Confirmed<T> | undefined> => {
      try {
        const { confirmedAt, text } = JSON.parse((await store?.get(key)) ?? 'null') as Stored;
        if (text === null || Date.now() - confirmedAt > storedMs) return undefined;
        isStored = true;
        return { value: parse(text), confirmedAt, originStaleMs: 0 };
      } catch {
        return undefined;
      }
    },
  };
}

/**
 * Keeps a value of the origin in memory: it is read again beside responses once it is older than `refreshMs`, before a response once it is
 * older than `maxAgeMs`, and served as it is while it cannot be read. Without one in memory, that of the store is served if the origin fails, or
 * does not answer in time.
 */
export function kept<T>(options: KeptOptions<T>) {
  const { read, isLost, refreshMs, maxAgeMs, retryMs, readingMs } = options;
  const stored = storedValue(options);
  let held: Confirmed<T> | undefined;
  let reading: { readonly work: Promise<void>; readonly begunAt: number; isSlow: boolean } | undefined;
  /** when the origin was last asked with success */
  let readAt = Number.NEGATIVE_INFINITY;
  let retryAt = 0;
  let failure: unknown;
  /** whether the origin has ended the value: what the store still has of it, as after a failed write, is of no use */
  let isEnded = false;

  const rememberStored = async (): Promise<void> => {
    const remembered = isEnded ? undefined : await stored.get();
    // Meanwhile it may have been read, or have ended.
    if (!isEnded) held ??= remembered;
  };
  const refresh = async (): Promise<void> => {
    const before = held;
    try {
      const { value, staleMs } = await read(before?.value);
      // A reading that was given up may end after a later one, with what is older.
      if (held !== before) return;
      readAt = Date.now();
      held = { value, confirmedAt: readAt - staleMs, originStaleMs: staleMs };
      failure = undefined;
      isEnded = false;
      await stored.set(held, value !== before?.value);
    } catch (error) {
      if (held !== before) return;
      failure = error;
      const { retryAfterMs = 0 } = error as { readonly retryAfterMs?: number | undefined };
      retryAt = Date.now() + Math.max(retryMs, retryAfterMs);
      if (isLost(error)) {
        held = undefined;
        isEnded = true;
        await stored.remove();
      } else if (held === undefined) await rememberStored();
    }
  };
  const begin = (inBackground: InBackground) => {
    const begun = { begunAt: Date.now(), isSlow: false, work: Promise.resolve() };
    begun.work = refresh().finally(() => {
      if (reading === begun) reading = undefined;
    });
    // The request that began it may end first, and with it all that it does not wait for.
    inBackground(begun.work);
    return begun;
  };

  /** The value, as new as the origin gives it. @throws what reading threw, where there is none */
  return async ({ inBackground, until }: Waiting): Promise<Confirmed<T>> => {
    const now = Date.now();
    const age = held === undefined ? Number.POSITIVE_INFINITY : now - readAt;
    if (reading !== undefined && now - reading.begunAt > readingMs) reading = undefined;
    if (age >= refreshMs && now >= retryAt) reading ??= begin(inBackground);
    const current = reading;
    if (current !== undefined && age >= maxAgeMs && !current.isSlow) {
      await Promise.race([current.work, pauseUntil(until)]);
      // The next responses do not wait for it as well.
      if (reading === current) current.isSlow = true;
    }
    if (held === undefined) await rememberStored();
    if (held !== undefined) return held;
    throw failure ?? new OriginError('unreachable', 'it has not answered in time');
  };
}
