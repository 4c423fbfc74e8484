import type { Tx } from './transaction.ts';

/** Takes the lock with a name until the transaction ends, so that transactions that take it run one after another. */
export const advisoryLock = async ({ query }: Pick<Tx, 'query'>, name: string): Promise<void> => {
  await query('select pg_advisory_xact_lock(hashtext($1))', [name]);
};
