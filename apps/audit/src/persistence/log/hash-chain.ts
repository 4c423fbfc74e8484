import { hash } from 'node:crypto';
import { type ChainedEvent, hashInput } from '../../log/chained-event.ts';

/** An event of the chain, with the hash that is stored with it, in hex. */
export interface HashedEvent extends ChainedEvent {
  readonly hash: string;
}

/** The hash of an event that follows the event with the hash `before`. */
export const eventHash = (before: string, event: ChainedEvent): string =>
  hash('sha256', hashInput(before, event), 'hex');

/** The columns of `event` as the chain reads them. JSON columns are read as the stored text. */
export const chainColumns = `
  id, uid, type, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as "createdAt",
  created_by as "createdBy", created_by_user_id as "createdByUserId", project, environment,
  feature_name as "featureName", data::text as data, pre_data::text as "preData", tags::text as tags,
  group_type as "groupType", group_id as "groupId",
  encode(hash, 'hex') as hash`;
