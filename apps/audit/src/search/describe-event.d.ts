import type { Event } from '@bunting/contracts';
/** An event of the log, without label and summary. */
export type LoggedEvent = Omit<Event, 'label' | 'summary'>;
/** Describes an event, or a part of it, in Markdown. @param base the URL that links begin with */
export type SummaryPart = (event: LoggedEvent, base: string) => string;
export interface EventDescription {
    /** a short name of the event */
    readonly label: string;
    /** what happened, in Markdown */
    readonly summary: string;
}
/** Label and Markdown summary of an event. @param base the URL that links begin with */
export declare const describeEvent: (event: LoggedEvent, base: string) => EventDescription;
