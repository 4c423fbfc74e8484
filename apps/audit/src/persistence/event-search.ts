import type { Database } from '@bunting/database';
import type { Criteria } from './criteria.ts';
import { listEvents } from './event-listing.ts';
import { eventsById } from './events-by-id.ts';
import type { FoundEvents, PageOf } from './found-events.ts';
import { indexedSearch, type SearchMemory } from './indexed-search.ts';

export type { FoundEvent } from './found-events.ts';

export interface EventSearch {
  /** The newest events that match, the newest first. */
  find(criteria: Criteria, page: PageOf, deadline: Date): Promise<FoundEvents>;
}

/** How many rows are left out by reading them. */
const mostSkipped = 1_000;

/** Whether a b-tree has the page and a counter the total. */
const isListed = (criteria: Criteria, { skip = 0 }: PageOf): boolean => {
  const { text = '', features, environments, creators, notBefore, before } = criteria;
  const others = [features, environments, creators, notBefore, before];
  return text === '' && skip <= mostSkipped && others.every((asked) => asked === undefined);
};

/**
 * Searches the log. An answer is of one moment: its page and its total see the same events.
 * @param memory what is remembered of what was found, where it is not the usual
 */
export const eventSearch = (database: Database, memory?: Partial<SearchMemory>): EventSearch => {
  const findIndexed = indexedSearch(database, memory);
  return {
    find: (criteria, page, deadline) => {
      if (criteria.ids !== undefined) return eventsById(database, criteria, page);
      return isListed(criteria, page) ? listEvents(database, criteria, page) : findIndexed(criteria, page, deadline);
    },
  };
};
