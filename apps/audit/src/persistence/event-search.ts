import type { Database } from '@bunting/database';
import type { Criteria } from './criteria.ts';
import { listEvents } from './event-listing.ts';
import type { FoundEvents, PageOf } from './found-events.ts';
import { indexedSearch } from './indexed-search.ts';

export type { FoundEvent } from './found-events.ts';

export interface EventSearch {
  /** The newest events that match, the newest first. */
  find(criteria: Criteria, page: PageOf, deadline: Date): Promise<FoundEvents>;
}

/** How many rows are left out by reading them. */
const mostSkipped = 1_000;

/** Whether a b-tree has the page and a counter the total, or a few rows at most. */
const isListed = (criteria: Criteria, { skip = 0 }: PageOf): boolean => {
  const { text = '', features = [], environments, creators, notBefore, before } = criteria;
  const others = [environments, creators, notBefore, before];
  return text === '' && features.length <= 1 && skip <= mostSkipped && others.every((asked) => asked === undefined);
};

/** Searches the log. An answer is of one moment: its page and its total see the same events. */
export const eventSearch = (database: Database): EventSearch => {
  const findIndexed = indexedSearch(database);
  return {
    find: (criteria, page, deadline) =>
      isListed(criteria, page) ? listEvents(database, criteria, page) : findIndexed(criteria, page, deadline),
  };
};
