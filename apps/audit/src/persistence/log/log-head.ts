import type { Tx } from '@bunting/database';
import { missingLogHeadError } from './missing-log-head-error.ts';

/** The head of the log: its last event. */
export interface LogHead {
  readonly id: number;
  /** the hash of the last event, in hex */
  readonly hash: string;
  /** the first id for which there is no partition yet */
  readonly partitionedTo: number;
}

/** Locks the head of the log until the transaction ends. Other appenders wait. */
export const lockEventLogHead = async ({ query }: Tx): Promise<LogHead> => {
  const [head] = await query<LogHead>(
    `select id, encode(hash, 'hex') as hash, partitioned_to as "partitionedTo" from event_log_head for update`,
  );
  if (head === undefined) throw missingLogHeadError();
  return head;
};
