import type { Columns } from './criteria.ts';
import { where } from './found-events.ts';

/** How many events match by columns. All but those of a feature are counted already when they arrive; a feature has few enough to count. */
export const totalOf = ({ asks, conditions }: Columns): string => {
  if (asks.length === 0) return 'select events from event_log_head';
  if (asks.includes('feature')) return `select count(*) from event_search ${where(...conditions)}`;
  return `select coalesce(sum(events), 0)::bigint from event_count ${where(...conditions)}`;
};
