import type { Caller } from '@bunting/contracts';
import { describeEvent } from '../../domain/description.ts';
import { asSeen, type VisibleEvents, visibleEvents } from '../../domain/visible-events.ts';
import type { Criteria } from '../../persistence/search/conditions.ts';
import type { EventSearch, FoundEvent } from '../../persistence/search/event-search.ts';
import type { PageOf } from '../../persistence/search/event-rows.ts';

export interface Surroundings {
  readonly search: EventSearch;
  /** waits until the log is fresh, at most so long; how many milliseconds it is behind */
  readonly catchUp: (atMostMs: number) => Promise<number>;
  readonly freshnessWaitMs: number;
  /** where links in summaries begin */
  readonly publicUrl: string;
}

/** What an operation is given of who asks, and for how long. */
export interface Asking {
  readonly caller: Caller;
  readonly now: Date;
  readonly deadline: Date;
  readonly setHeader: (header: string, value: string) => void;
}

export interface EventAnswer {
  /** the events of the page as JSON texts, with labels and summaries, the newest first */
  readonly events: readonly string[];
  readonly total: number;
}

/** What is left of the caller's patience for the search itself, after the wait for fresh events. */
const searchingMs = 250;

/** The event as it was told, but for what is hidden from who asks, with a label and a summary added at its end. */
export const described = ({ json, event }: FoundEvent, visible: VisibleEvents, publicUrl: string): string => {
  const seen = asSeen(event, visible);
  const { label, summary } = describeEvent(seen, publicUrl);
  return `${(seen === event ? json : JSON.stringify(seen)).slice(0, -1)},"label":${JSON.stringify(label)},"summary":${JSON.stringify(summary)}}`;
};

/** A list of the one value; undefined where there is none. */
export const listed = <T>(value: T | undefined): readonly T[] | undefined =>
  value === undefined ? undefined : [value];

/** Waits until the log is fresh, or as long as there is time; how stale it is then, is said. */
export const freshLog =
  ({ catchUp, freshnessWaitMs }: Pick<Surroundings, 'catchUp' | 'freshnessWaitMs'>) =>
  async ({ now, deadline, setHeader }: Asking): Promise<void> => {
    const patienceMs = deadline.getTime() - now.getTime() - searchingMs;
    const behindMs = await catchUp(Math.max(0, Math.min(freshnessWaitMs, patienceMs)));
    if (behindMs > 0) setHeader('Bunting-Stale', String(behindMs));
  };
export type FreshLog = ReturnType<typeof freshLog>;

/** Answers from the fresh log what the caller may see of what matches. */
export const eventAnswers = ({ search, publicUrl, ...log }: Surroundings) => {
  const fresh = freshLog(log);
  return async (asking: Asking, query: Omit<Criteria, 'visible'>, page: Partial<PageOf>): Promise<EventAnswer> => {
    await fresh(asking);
    const visible = visibleEvents(asking.caller);
    const { events, total } = await search.find(
      { ...query, visible },
      { from: Number.MAX_SAFE_INTEGER, limit: 100, ...page },
      asking.deadline,
    );
    return { events: events.map((event) => described(event, visible, publicUrl)), total };
  };
};
export type EventAnswers = ReturnType<typeof eventAnswers>;
