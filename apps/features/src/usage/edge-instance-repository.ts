import type { EdgeInstanceBody } from '@bunting/contracts';
import type { Tx } from '@bunting/database';

/** The maximum number of instances of Unleash Edge whose reports are stored. */
const maxEdgeInstances = 1_000;

const store = `
  insert into edge_instance as known (identifier, report, last_seen_at)
  select $1, $2::jsonb, $3::timestamptz
  where exists (select from edge_instance where identifier = $1)
    or (select count(*) from edge_instance) < ${maxEdgeInstances}
  on conflict (identifier) do update set report = excluded.report, last_seen_at = excluded.last_seen_at
    where known.last_seen_at <= excluded.last_seen_at`;

/** Stores reports of Edge instances within a transaction. At the limit, reports of new instances are ignored. */
export const edgeInstanceRepository = ({ query }: Tx) => ({
  store: async (report: EdgeInstanceBody, now: Date): Promise<void> => {
    await query(store, [report.identifier, JSON.stringify(report), now.toISOString()]);
  },
});
