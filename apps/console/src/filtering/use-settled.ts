import { useEffect, useState } from 'react';

/** Milliseconds after the last key until a text is searched for. */
const settleMs = 80;

/** A value once it has stayed the same for a moment, so that not each key that is typed causes a search. */
export function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), settleMs);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
