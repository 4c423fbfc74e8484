import DataLoader from 'dataloader';
import type { Database, Statement } from './database.ts';

/** How many batches of one statement run concurrently: PostgreSQL executes the next one while a result is on its way. */
const maxConcurrent = 2;
/** Limits how long one read waits for the others of its batch. */
const maxBatchSize = 32;

/** A row, and the index of its read in the batch, counted from 1. */
type BatchRow<Row> = Row & { readonly nth: number };

/**
 * A data loader: reads single rows in batches. A batch grows while `maxConcurrent` statements run, since under load a round trip costs
 * more than the rows that it reads. A read without others is sent immediately, and no read is served by a statement that was sent before
 * it. The statement takes the values as arrays, and its rows have the number of their read as `nth`. After a failure each read is sent by itself, so
 * that only the reads that fail reject. Nothing is cached.
 */
export function batchedRead<Values extends readonly unknown[], Row>(
  database: Pick<Database, 'read'>,
  statement: Statement,
): (...values: Values) => Promise<Row | undefined> {
  const waitingBatches: (() => void)[] = [];
  let runningBatches = 0;
  const dispatch = (): void => {
    while (runningBatches < maxConcurrent && waitingBatches.length > 0) {
      runningBatches++;
      waitingBatches.shift()?.();
    }
  };

  const read = async (batch: readonly Values[]): Promise<(Row | undefined)[]> => {
    const lists = (batch[0] ?? []).map((_, index) => batch.map((values) => values[index]));
    const rows = await database.read<BatchRow<Row>>(statement, lists);
    const rowByIndex = new Map(rows.map((row) => [row.nth, row]));
    return batch.map((_, index) => rowByIndex.get(index + 1));
  };
  const readAlone = (values: Values): Promise<Row | Error | undefined> =>
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
        return await Promise.all(batch.map(readAlone));
      } finally {
        runningBatches--;
        dispatch();
      }
    },
    {
      cache: false,
      maxBatchSize,
      batchScheduleFn: (send) =>
        void setImmediate(() => {
          waitingBatches.push(send);
          dispatch();
        }),
    },
  );
  return (...values) => loader.load(values);
}

/**
 * Returns a function that runs a job. Runs do not overlap: calls during a run share the next one, so every call is served by a run that
 * started after it.
 */
export function shareNextRun<T>(job: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;
  const start = (): Promise<T> => {
    next = undefined;
    const started = job();
    running = started.catch(() => undefined);
    return started;
  };
  return () => (next ??= running.then(start));
}
