import { type Caller, type OutboxEvent, type RequestOf, type SearchEvents } from '@bunting/contracts';
import type { ExternallyRecordedHash } from '../log/externally-recorded-hash.ts';
import type { LoggedEvent } from './describe-event.ts';
type SearchParameters = RequestOf<typeof SearchEvents>['query'];
/** The parsed filters of an event search. All that are present must match. */
export interface EventFilters {
    /** ids of events */
    readonly ids?: readonly number[] | undefined;
    readonly groups?: readonly string[] | undefined;
    readonly text?: string | undefined;
    readonly types?: readonly string[] | undefined;
    readonly projects?: readonly string[] | undefined;
    readonly features?: readonly string[] | undefined;
    readonly environments?: readonly string[] | undefined;
    readonly creators?: readonly number[] | undefined;
    /** the start of the first day, UTC */
    readonly notBefore?: Date | undefined;
    /** the end of the last day, UTC */
    readonly before?: Date | undefined;
}
/**
 * Parses the filters of an event search: `IS:` and `IS_ANY_OF:` lists, days in UTC.
 * @throws Refusal `ValidationError` that names the parameter at fault.
 */
export declare const parseEventFilters: (query: SearchParameters) => EventFilters;
/** Which events a caller may see. */
export interface EventVisibility {
    /** whether to include events of no project, which concern users, tokens and permissions */
    readonly ofNoProject: boolean;
    /** projects whose events are hidden from the caller */
    readonly hiddenProjects: readonly string[];
}
/** Administrators see all events, other callers those of projects that are not hidden from them. */
export declare const eventVisibilityOf: (caller: Caller) => EventVisibility;
/**
 * The event without the parts about a hidden project. The event of a moved flag names its old project, and the `preData` of a moved segment
 * is of its old project. Returns the same object if there is nothing to remove.
 */
export declare const withoutHiddenProject: (event: LoggedEvent, { hiddenProjects }: EventVisibility) => LoggedEvent;
/** Begins the path of a bound in a refusal: bounds are query parameters of operations, and options of a command. */
type PathPrefix = '/query/' | '--';
/** Refuses a feed that begins after an event which does not exist yet. */
export declare const requireAfterNotBeyondLog: (after: number, lastId: number) => void;
/** Refuses a range that begins beyond the next event. From the next event on, the range is empty, and valid. */
export declare const requireFromNotBeyondNextEvent: (from: number | undefined, lastId: number, prefix?: PathPrefix) => void;
/** Refuses a range that ends before it begins. */
export declare const requireFromNotAfterTo: (from: number | undefined, to: number | undefined, prefix?: PathPrefix) => void;
/** Refuses an externally recorded hash whose event the log has dropped for its age: it cannot be compared. */
export declare const requireEventNotDropped: ({ id, path }: ExternallyRecordedHash, droppedId: number) => void;
/** The maximum number of ids that a page covers. Pages of rare events may therefore be empty. */
export declare const maxIdsOfFeedPage = 20000;
export declare const maxEventsOfFeedPage = 250;
/** An event with its JSON text. */
interface JsonEvent {
    readonly id: number;
    readonly json: string;
}
/**
 * Limits a page to the maximum number of characters, which a single event may exceed.
 * @param found the first matching events after an id, at most `maxEventsOfFeedPage`, of the next `maxIdsOfFeedPage` ids
 * @param head the last id of the log
 * @returns the events of the page, and the id after which the next page begins
 */
export declare const limitFeedPage: <E extends JsonEvent>(found: readonly E[], after: number, head: number) => {
    events: E[];
    next: number;
};
/** Separates the creator of an event from its data in the indexed text. No folded text contains it. */
export declare const creatorSeparator = "\u001E";
/**
 * The text that searches match, beside the event's type: the creator, and then, without duplicates, every key and value of the data before
 * and after and every tag. Values are plain text, without the escapes of JSON.
 */
export declare const searchableText: ({ createdBy, data, preData, tags }: OutboxEvent) => string;
export {};
