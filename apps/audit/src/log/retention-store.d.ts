import { type Database, type ReadDatabase, type Tx } from '@bunting/database';
/**
 * Drops expired events, from the oldest up to the first that has not expired: a whole partition, or a bounded number of rows. The hash
 * of the last dropped event is stored, from which the chain continues.
 * @returns the number of dropped events
 */
export declare const dropOldestExpiredBatch: (database: Database, before: Date) => Promise<number>;
/** The number of ids in the range of a partition. */
export declare const partitionLength = 1048576;
/** SQL: the statements that create a partition of both tables of the log. @param nth the number of the partition, from 0 */
export declare const createPartitionSql: (nth: number) => readonly string[];
/** Creates the missing partitions for ids up to `id`. The caller has locked the head of the log. Readers are not blocked. */
export declare const ensurePartitions: ({ query }: Tx, partitionedTo: number, id: number) => Promise<void>;
/** The number of events and the disk space of the log. */
export interface LogSize {
    readonly events: number;
    readonly firstId: number | null;
    readonly lastId: number | null;
    readonly oldest: string | null;
    readonly newest: string | null;
    readonly bytes: {
        readonly log: number;
        readonly search: number;
        readonly total: number;
    };
    readonly partitions: readonly {
        readonly name: string;
        readonly bytes: number;
    }[];
}
export declare const logSize: (database: ReadDatabase) => Promise<LogSize>;
