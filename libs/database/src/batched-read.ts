import DataLoader from 'dataloader';
import type { Database, Statement } from './database.ts';

/** Statements of one kind that run at the same time: while one is answered, PostgreSQL has the next. */
const maxConcurrent = 2;
/** How many things one statement reads at most, so that none waits for long behind others. */
const maxBatchSize = 32;

/** A row, and which of the batch it answers, counted from 1. */
export type BatchRow<Row> = Row & { readonly nth: number };

/**
 * Reads single things in batches: a batch grows while `maxConcurrent` statements run, since under load a round trip costs more than what
 * is read in it. A lone read is sent immediately, and nothing is answered by a statement that was sent before it was asked for. The statement
 * is given the values as lists, and its rows say which of them they answer. Where it fails, each is read by itself, so that only the
 * callers of what cannot be read get the error. Nothing is cached.
 */
export const batchedRead = <Values extends readonly unknown[], Row>(
  database: Pick<Database, 'read'>,
  statement: Statement,
): ((...values: Values) => Promise<Row | undefined>) => {
  const ready: (() => void)[] = [];
  let running = 0;
  const dispatch = (): void => {
    while (running < maxConcurrent && ready.length > 0) {
      running++;
      ready.shift()?.();
    }
  };

  const read = async (batch: readonly Values[]): Promise<(Row | undefined)[]> => {
    const lists = (batch[0] ?? []).map((_, at) => batch.map((values) => values[at]));
    const rows = await database.read<BatchRow<Row>>(statement, lists);
    const found = new Map(rows.map((row) => [row.nth, row]));
    return batch.map((_, at) => found.get(at + 1));
  };
  const alone = (values: Values): Promise<Row | Error | undefined> =>
    read([values]).then(
      ([row]) => row,
      (error: unknown) => error as Error,
    );

  const loader = new DataLoader<Values, Row | undefined>(
    async (batch) => {
      try {
        return await read(batch);
      } catch (error) {
        if (batch.length === 1) return [error as Error];
        return await Promise.all(batch.map(alone));
      } finally {
        running--;
        dispatch();
      }
    },
    {
      cache: false,
      maxBatchSize,
      batchScheduleFn: (send) =>
        void setImmediate(() => {
          ready.push(send);
          dispatch();
        }),
    },
  );
  return (...values) => loader.load(values);
};
