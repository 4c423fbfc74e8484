import { useEffect, useRef, useState } from 'react';

/** The least number of milliseconds between two searches. */
const settleMs = 80;

/**
 * A value that is searched for: the first one after a pause at once, and then the last one of those that follow each other quickly, so that
 * not each key that is typed causes a search.
 */
export function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value);
  const changedAt = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    const now = performance.now();
    const isFirst = now - changedAt.current > settleMs;
    changedAt.current = now;
    if (isFirst) {
      setSettled(value);
      return undefined;
    }
    const timer = setTimeout(() => setSettled(value), settleMs);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
