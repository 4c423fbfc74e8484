import type { Database, Statement } from './database.ts';

/** Statements of one kind that are on their way at once: while one is answered, PostgreSQL has the next. */
const atOnce = 2;
/** How many things one statement reads at most, so that nobody waits for long behind others. */
const most = 32;

/** A row, and which of what was asked for it answers, counted from 1. */
export type Nth<Row> = Row & { readonly nth: number };

interface Waiting<Row> {
  readonly values: readonly unknown[];
  readonly resolve: (row: Row | undefined) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Reads things one by one for who asks, and all that is asked for meanwhile by one statement: under load a round trip costs
 * more than what is read in it. What is asked for alone is read at once, and nothing is answered by a statement that was sent before
 * it was asked for. The statement is given the values as lists, and its rows say what they answer. Where it fails, each is read by
 * itself, so that who asks for what cannot be read is alone to be told.
 */
export const readTogether = <Values extends readonly unknown[], Row>(
  database: Pick<Database, 'read'>,
  statement: Statement,
): ((...values: Values) => Promise<Row | undefined>) => {
  const waiting: Waiting<Row>[] = [];
  let running = 0;
  let scheduled = false;

  const read = async (asked: readonly Waiting<Row>[]): Promise<void> => {
    const lists = (asked[0]?.values ?? []).map((_, at) => asked.map(({ values }) => values[at]));
    const rows = await database.read<Nth<Row>>(statement, lists);
    const found = new Map(rows.map((row) => [row.nth, row]));
    for (const [at, { resolve }] of asked.entries()) resolve(found.get(at + 1));
  };

  const send = async (): Promise<void> => {
    const taken = waiting.splice(0, most);
    running++;
    try {
      await read(taken);
    } catch (error) {
      // What PostgreSQL refuses of one is no fault of the others: each is read by itself.
      if (taken.length === 1) taken[0]?.reject(error);
      else await Promise.all(taken.map((one) => read([one]).catch(one.reject)));
    }
    running--;
    schedule();
  };

  /** Once all that has arrived by now has been heard. */
  const schedule = (): void => {
    if (scheduled || running >= atOnce || waiting.length === 0) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      void send();
      schedule();
    });
  };

  return (...values) =>
    new Promise((resolve, reject) => {
      waiting.push({ values, resolve, reject });
      schedule();
    });
};
