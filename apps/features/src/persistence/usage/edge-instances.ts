import type { EdgeInstanceBody } from '@bunting/contracts';
import { type ReadDatabase, type Statement, timestampSql, type Tx } from '@bunting/database';
import { readJson } from '../sql/read-json.ts';

/** The maximum number of Edges that are stored. */
const maxEdgeInstances = 1_000;

const store = `
  insert into edge_instance as known (identifier, report, last_seen_at)
  select $1, $2::jsonb, $3::timestamptz
  where exists (select from edge_instance where identifier = $1)
    or (select count(*) from edge_instance) < ${maxEdgeInstances}
  on conflict (identifier) do update set report = excluded.report, last_seen_at = excluded.last_seen_at
    where known.last_seen_at <= excluded.last_seen_at`;

/** Stores reports of Edges within a transaction. At the limit, reports of new Edges are ignored. */
export const edgeInstanceRepository = ({ query }: Tx) => ({
  store: async (report: EdgeInstanceBody, now: Date): Promise<void> => {
    await query(store, [report.identifier, JSON.stringify(report), now.toISOString()]);
  },
});

/** The maximum size of the list, in bytes of reports: the latest reports that fit are listed. */
const maxListedBytes = 8 * 1024 * 1024;

const list: Statement = {
  name: 'edge-instances',
  text: `
    select json_build_object('edges', coalesce(json_agg(
      report || jsonb_build_object('reportedAt', ${timestampSql('last_seen_at')}) order by last_seen_at desc, identifier), '[]'))::text as json
    from (
      select *, sum(octet_length(report::text)) over (order by last_seen_at desc, identifier) as bytes from edge_instance
    ) as measured where bytes <= ${maxListedBytes}`,
};

/** Reads the latest report of each Edge, as JSON. */
export const edgeInstanceLister = (database: ReadDatabase) => (): Promise<string> => readJson(database, list);
