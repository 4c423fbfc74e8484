import type { ReadDatabase } from '@bunting/database';
import { type ChainFault } from './chained-event.ts';
import type { EventIdAndHash, ExternallyRecordedHash } from './externally-recorded-hash.ts';
export interface VerificationOptions {
    readonly from?: number | undefined;
    readonly to?: number | undefined;
    /** a hash that is compared with that of the event in the log, also outside of the range */
    readonly externalHash?: ExternallyRecordedHash | undefined;
    /** the deadline, at which verification stops and reports the last event that it has verified */
    readonly until?: Date | undefined;
    readonly progress?: ((checkedTo: number, to: number) => void) | undefined;
}
export interface VerificationReport {
    readonly from: number;
    readonly to: number;
    /** the number of events that were checked */
    readonly checked: number;
    /** the id of the last event that was checked; the id before the range if none was */
    readonly checkedTo: number;
    /** the hash of the event `checkedTo` */
    readonly hash: string;
    /** the last event of the log; stored outside the log, it proves a later truncation */
    readonly head: EventIdAndHash;
    readonly fault: ChainFault | null;
}
/**
 * Verifies that the events of a range are those that were appended: recomputes each hash from the stored event and the hash
 * before it, and reports the first mismatch. Hashes are computed here: the database is only read.
 * @throws Refusal `ValidationError` if the log has dropped the event of `externalHash` for its age: it cannot be compared
 */
export declare const verifyChain: (database: ReadDatabase, options?: VerificationOptions) => Promise<VerificationReport>;
