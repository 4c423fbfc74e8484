import type { Database } from '@bunting/database';
import { folded } from '../domain/searchable-text.ts';
import type { Criteria } from './criteria.ts';
import { listEvents } from './event-listing.ts';
import type { FoundEvents, PageOf } from './found-events.ts';
import { textSearch } from './text-search.ts';

export type { FoundEvent } from './found-events.ts';

export interface EventSearch {
  /** The newest events first. Text is found as it stands, in upper or lower case; an empty one says nothing. */
  find(criteria: Criteria & { readonly text?: string | undefined }, page: PageOf, deadline: Date): Promise<FoundEvents>;
}

/** Searches the log. An answer is of one moment: its page and its total see the same events. */
export const eventSearch = (database: Database): EventSearch => {
  const byText = textSearch(database);
  return {
    find: ({ text = '', ...criteria }, page, deadline) =>
      text === '' ? listEvents(database, criteria, page) : byText.find(folded(text), criteria, page, deadline),
  };
};
