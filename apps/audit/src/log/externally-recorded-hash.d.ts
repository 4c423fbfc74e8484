/** The id of an event with its hash, which depends on all events before it. */
export interface EventIdAndHash {
    readonly id: number;
    readonly hash: string;
}
/**
 * The hash of an event that an operator recorded outside the log. A log whose event has another hash was rewritten since, at the event or
 * before it.
 */
export interface ExternallyRecordedHash extends EventIdAndHash {
    /** the path of the property or the option in which it was sent, which a refusal names */
    readonly path?: string;
}
/** Parses an event id and hash: `<id>:<64 hexadecimal digits>`. @throws Refusal `ValidationError` */
export declare const parseExternallyRecordedHash: (text: string, path: string) => ExternallyRecordedHash;
interface VerifiedRange {
    /** the last event that was verified */
    readonly checkedTo: number;
    /** the last event of the range */
    readonly to: number;
}
/** Whether all of the range was verified, and every event that services emitted is in the log: none was pruned unread, and none is a dead letter. */
export declare const isVerifiedWithoutMissingEvents: ({ checkedTo, to }: VerifiedRange, prunedUnread: readonly unknown[], deadLetters: readonly unknown[]) => boolean;
export {};
