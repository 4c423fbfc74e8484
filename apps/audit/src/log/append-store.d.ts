import type { OutboxEvent } from '@bunting/contracts';
import { type Database, type Tx } from '@bunting/database';
import { type ChainedEvent } from './chained-event.ts';
/** An event of the chain, with the hash that is stored with it, in hex. */
export interface HashedEvent extends ChainedEvent {
    readonly hash: string;
}
/** The hash of an event that follows the event with the hash `before`. */
export declare const eventHash: (before: string, event: ChainedEvent) => string;
/** The columns of `event` as the chain reads them. JSON columns are read as the stored text. */
export declare const chainColumns = "\n  id, uid, type, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"') as \"createdAt\",\n  created_by as \"createdBy\", created_by_user_id as \"createdByUserId\", project, environment,\n  feature_name as \"featureName\", data::text as data, pre_data::text as \"preData\", tags::text as tags,\n  group_type as \"groupType\", group_id as \"groupId\",\n  encode(hash, 'hex') as hash";
/** The error of a log without the row that names its last event. */
export declare const missingLogHeadError: () => Error;
/** The head of the log: its last event. */
export interface LogHead {
    readonly id: number;
    /** the hash of the last event, in hex */
    readonly hash: string;
    /** the first id for which there is no partition yet */
    readonly partitionedTo: number;
}
/** An event in its stored form, without the id and the hash that its position in the log determines, and its text that searches match. */
export interface PreparedEvent extends Omit<ChainedEvent, 'id'> {
    readonly text: string;
}
/**
 * Prepares an event for `appendEvents`: the part of the work that needs no transaction.
 * @param uid identifies the event when it is delivered again
 */
export declare const prepareEvent: (uid: string, event: OutboxEvent) => PreparedEvent;
/**
 * Appends events in their order, each with an id and a hash, and skips those that the log already has. Other appenders wait until the
 * transaction ends, so that an event never becomes visible after one with a higher id.
 */
export declare const appendEvents: (tx: Tx, events: readonly PreparedEvent[]) => Promise<void>;
/**
 * Merges the pending lists of the trigram index, which every search by text reads from beginning to end. An append merges a list that
 * exceeds its limit, so this merges what remains below the limit.
 */
export declare const pendingTextIndexFlusher: (database: Database) => {
    /** Records that texts were appended, which are pending until they are merged. */
    textsAppended: () => void;
    /** Merges the pending texts, unless the last merge found none and no text was appended since. @returns 0: nothing is left to merge */
    merge: () => Promise<number>;
};
