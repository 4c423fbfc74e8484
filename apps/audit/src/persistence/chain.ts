import type { Tx } from '@bunting/database';
import { hash } from 'node:crypto';
import { type ChainedEvent, chainText } from '../domain/chain.ts';

/** An event of the chain, with the hash that the log has of it, in hex. */
export interface SealedEvent extends ChainedEvent {
  readonly hash: string | null;
}

/** The hash of an event that follows the event with the hash `before`. */
export const sealOf = (before: string, event: ChainedEvent): string => hash('sha256', chainText(before, event), 'hex');

/** The columns of `event` as the chain reads them. JSON is taken as the text that is stored. */
export const chainColumns = `
  id, uid, type, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as "createdAt",
  created_by as "createdBy", created_by_user_id as "createdByUserId", project, environment,
  feature_name as "featureName", data::text as data, pre_data::text as "preData", tags::text as tags,
  encode(hash, 'hex') as hash`;

/** The end of the log, and how far it is sealed: both are the same but after an upgrade of a log without hashes. */
export interface Head {
  readonly id: number;
  readonly sealedId: number;
  /** of the event `sealedId`, in hex */
  readonly sealedHash: string;
  /** below which id there are partitions */
  readonly partitionedTo: number;
}

/** Locks the end of the log until the transaction is over; whoever appends or seals waits. */
export const headForUpdate = async ({ query }: Tx): Promise<Head> => {
  const [head] = await query<Head>(
    `select id, sealed_id as "sealedId", encode(sealed_hash, 'hex') as "sealedHash", partitioned_to as "partitionedTo"
     from event_log_head for update`,
  );
  if (head === undefined) throw new Error('The event log has no head.');
  return head;
};

const atOnce = 1_000;

/**
 * Gives the next events without a hash theirs, in the order of their ids: those of a log from before there were hashes, and
 * those that a process of that version appends while others run this one.
 * @returns how many there were
 */
export const sealNext = async (tx: Tx): Promise<number> => {
  const head = await headForUpdate(tx);
  if (head.sealedId >= head.id) return 0;
  const events = await tx.query<SealedEvent>(
    `select ${chainColumns} from event where id > $1 order by id limit ${atOnce}`,
    [head.sealedId],
  );
  let before = head.sealedHash;
  const sealed = events.map((event) => ({ id: event.id, hash: (before = sealOf(before, event)) }));
  const last = sealed.at(-1);
  if (last === undefined) return 0;
  await tx.query(
    `update event set hash = decode(sealed.hash, 'hex')
     from json_to_recordset($1::json) as sealed (id bigint, hash text) where event.id = sealed.id`,
    [JSON.stringify(sealed)],
  );
  await tx.query(`update event_log_head set sealed_id = $1, sealed_hash = decode($2, 'hex')`, [last.id, last.hash]);
  return sealed.length;
};
