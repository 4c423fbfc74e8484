import type { Database } from '@bunting/database';
import { folded } from '../domain/searchable-text.ts';
import type { Criteria, TextPlace } from './criteria.ts';
import { listEvents } from './event-listing.ts';
import type { FoundEvents, PageOf } from './found-events.ts';
import { textSearch } from './text-search.ts';

export type { FoundEvent } from './found-events.ts';

/** What is looked for: by columns, and by text. */
export interface EventQuery extends Criteria {
  readonly text?: string | undefined;
  /** where the text must be; anywhere when left out */
  readonly textIn?: TextPlace;
}

export interface EventSearch {
  /** The newest events first. Text is found as it stands, in upper or lower case; an empty one says nothing. */
  find(query: EventQuery, page: PageOf, deadline: Date): Promise<FoundEvents>;
}

/** Searches the log. An answer is of one moment: its page and its total see the same events. */
export const eventSearch = (database: Database): EventSearch => {
  const byText = textSearch(database);
  return {
    find: ({ text = '', textIn = 'anywhere', ...criteria }, page, deadline) =>
      text === ''
        ? listEvents(database, criteria, page)
        : byText.find({ text: folded(text), place: textIn }, criteria, page, deadline),
  };
};
