import { type ReadDatabase, timestampSql, type Statement } from '@bunting/database';
import { featureNotFound } from '../refusals.ts';
import { joinLastHour } from '../unit-of-work/feature-queries.ts';

const commonMembers = `'version', 1, 'maturity', 'stable', 'featureName', f.name`;

const usageRows = (hours: string): string => `
  feature_usage_hour used join environment e on e.name = used.environment
  where used.feature = f.name and used.hour > now() - ${hours}`;

const lastHour: Statement = {
  name: 'usage-of-feature',
  text: `
    select json_build_object(${commonMembers},
      'lastHourUsage', coalesce((
        select json_agg(json_build_object(
          'environment', e.name, 'timestamp', ${timestampSql("date_trunc('hour', seen.last_seen_at, 'UTC')")},
          'yes', last_hour.yes, 'no', last_hour.no) order by e.sort_order, e.name)
        from feature_seen seen join environment e on e.name = seen.environment ${joinLastHour('seen')}
        where seen.feature = f.name and last_hour.yes + last_hour.no > 0), '[]'),
      'seenApplications', coalesce((
        select json_agg(app_name order by app_name)
        from (select distinct used.app_name from ${usageRows("interval '2 hours'")}) as applications), '[]'))::text as json
    from feature f where f.name = $1 and f.project <> all ($2::text[])`,
};

/** The maximum number of counts by hour, environment and application in one reply: any number of applications may report. */
const maxRawMetrics = 50_000;

const byHour: Statement = {
  name: 'usage-of-feature-by-hour',
  text: `
    select json_build_object(${commonMembers},
      'data', coalesce((
        select json_agg(row order by position) from (
          select json_build_object(
            'featureName', f.name, 'appName', used.app_name, 'environment', used.environment,
            'timestamp', ${timestampSql('used.hour')}, 'yes', used.yes, 'no', used.no, 'variants', used.variants) as row,
            row_number() over (order by used.hour desc, e.sort_order, e.name, used.app_name) as position
          from ${usageRows('make_interval(hours => $2::integer)')}) as counted
        where position <= ${maxRawMetrics}), '[]'))::text as json
    from feature f where f.name = $1 and f.project <> all ($3::text[])`,
};

/** Reads usage outside of transactions, as JSON, in one statement each. */
export const usageReader = (database: ReadDatabase) => {
  const readJsonOrRefuse = async (
    statement: Statement,
    values: readonly [feature: string, ...unknown[]],
  ): Promise<string> => {
    const [row] = await database.read<{ json: string }>(statement, values);
    if (row === undefined) throw featureNotFound(values[0]);
    return row.json;
  };

  return {
    /** The evaluations of the last hour. */
    lastHour: (feature: string, hidden: readonly string[]): Promise<string> =>
      readJsonOrRefuse(lastHour, [feature, hidden]),
    /** The evaluations by hour of the last `hoursBack` hours, the newest `maxRawMetrics` counts of them. */
    byHour: (feature: string, hoursBack: number, hidden: readonly string[]): Promise<string> =>
      readJsonOrRefuse(byHour, [feature, hoursBack, hidden]),
  };
};
