import type { Columns } from './criteria.ts';
import { where } from './found-events.ts';

/** What is counted when events arrive. */
const counted: readonly string[] = ['project', 'projects', 'any-project', 'not-hidden', 'type', 'types'];

/** How many events match by columns. Those of projects and types are counted already when they arrive; others are few enough to count, as those of a feature are. */
export const totalOf = ({ asks, conditions }: Columns): string => {
  if (asks.length === 0) return 'select events from event_log_head';
  if (asks.some((ask) => !counted.includes(ask))) return `select count(*) from event_search ${where(...conditions)}`;
  return `select coalesce(sum(events), 0)::bigint from event_count ${where(...conditions)}`;
};
