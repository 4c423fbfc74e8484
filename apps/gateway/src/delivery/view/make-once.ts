import type { Encoding } from '../../http/response/compression.ts';

/** What was made in each encoding, or is being made. */
export type ByEncoding<T> = Partial<Record<Encoding, T | Promise<T>>>;

/** Returns the cached value, or makes it once for all concurrent callers. A failure is not cached. */
export const makeOnce = <T>(
  cache: ByEncoding<T>,
  encoding: Encoding,
  make: () => Promise<T>,
  onMade: () => void,
): T | Promise<T> => {
  const cached = cache[encoding];
  if (cached !== undefined) return cached;
  const making = make();
  cache[encoding] = making;
  making.then(
    (value) => {
      cache[encoding] = value;
      onMade();
    },
    () => void delete cache[encoding],
  );
  return making;
};
