/** Lets so many at a time do what it takes long to do; the others wait for their turn, in the order in which they came. */
export type Turns = <T>(job: () => Promise<T>) => Promise<T>;

export const turns = (atOnce: number): Turns => {
  const waiting: (() => void)[] = [];
  let busy = 0;
  return async (job) => {
    if (busy >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    else busy++;
    try {
      return await job();
    } finally {
      const next = waiting.shift();
      if (next === undefined) busy--;
      else next();
    }
  };
};
