import { type ReadDatabase, type Statement, timestampSql } from '@bunting/database';
import { readJson } from '../unit-of-work/read-json.ts';

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

/** Reads the latest report of each instance of Unleash Edge, as JSON. */
export const edgeInstanceReader = (database: ReadDatabase) => (): Promise<string> => readJson(database, list);
