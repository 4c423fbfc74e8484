import { implement, JsonText } from '@bunting/bus';
import { requireStorableText, SearchEvents } from '@bunting/contracts';
import { describeEvent } from '../../domain/description.ts';
import { visibleEvents } from '../../domain/visible-events.ts';
import type { EventSearch, FoundEvent } from '../../persistence/event-search.ts';

export interface Surroundings {
  readonly search: EventSearch;
  /** waits until the log is fresh, at most so long; how many milliseconds it is behind */
  readonly caughtUp: (atMostMs: number) => Promise<number>;
  readonly freshnessWaitMs: number;
  /** where links in summaries begin */
  readonly publicUrl: string;
}

/** What is left of the caller's patience for the search itself, after the wait for fresh events. */
const searchingMs = 250;

/** The event as it was told, with a label and a summary added at its end. */
const described = ({ json, event }: FoundEvent, publicUrl: string): string => {
  const { label, summary } = describeEvent(event, publicUrl);
  return `${json.slice(0, -1)}, "label": ${JSON.stringify(label)}, "summary": ${JSON.stringify(summary)}}`;
};

export const searchEventsEndpoint = ({ search, caughtUp, freshnessWaitMs, publicUrl }: Surroundings) =>
  implement(SearchEvents, async ({ body, caller, now, deadline, say }) => {
    requireStorableText(body, '/body');
    const { type, project, feature, query, limit = 100, offset = 0 } = body;
    const patienceMs = deadline.getTime() - now.getTime() - searchingMs;
    const behindMs = await caughtUp(Math.max(0, Math.min(freshnessWaitMs, patienceMs)));
    if (behindMs > 0) say('Bunting-Stale', String(behindMs));
    const { events, total } = await search.find(
      { type, project, feature, text: query, visible: visibleEvents(caller) },
      { from: offset === 0 ? Number.MAX_SAFE_INTEGER : offset, limit },
      deadline,
    );
    const page = events.map((event) => described(event, publicUrl)).join(',');
    return new JsonText(`{"version":1,"events":[${page}],"totalEvents":${total}}`);
  });
