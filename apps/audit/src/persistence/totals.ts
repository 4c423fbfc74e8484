import type { Columns } from './criteria.ts';
import { where } from './found-events.ts';

/** How many events match by projects and types: those are counted when they arrive. */
export const totalOf = ({ asks, conditions }: Columns): string =>
  asks.length === 0
    ? 'select events from event_log_head'
    : `select coalesce(sum(events), 0)::bigint from event_count ${where(...conditions)}`;
