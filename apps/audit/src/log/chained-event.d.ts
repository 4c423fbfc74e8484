/** An event as the log holds it, with its data as the JSON text that is stored. */
export interface ChainedEvent {
    readonly id: number;
    readonly uid: string;
    readonly type: string;
    /** in UTC, with six digits after the seconds: `2026-11-21T08:00:00.000000Z` */
    readonly createdAt: string;
    readonly createdBy: string;
    readonly createdByUserId: number | null;
    readonly project: string | null;
    readonly environment: string | null;
    readonly featureName: string | null;
    readonly data: string | null;
    readonly preData: string | null;
    readonly tags: string;
    readonly groupType: string | null;
    readonly groupId: string | null;
}
/**
 * The text whose SHA-256 is the hash of an event: a JSON array of the previous event's hash, in hex, and of all properties of the event.
 * The text is unique to the event: it changes with any property, with the position in the log and with any previous event.
 */
export declare const hashInput: (before: string, event: ChainedEvent) => string;
/** The ways in which an event of the chain can differ from the appended one. */
export type FaultKind = 'missing' | 'altered' | 'moved' | 'added' | 'head';
export interface ChainFault {
    readonly id: number;
    readonly kind: FaultKind;
    readonly message: string;
}
/** The fault at an event id, with a sentence that describes it. */
export declare const chainFault: (id: number, kind: FaultKind, detail?: string) => ChainFault;
