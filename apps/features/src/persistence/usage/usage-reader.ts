import { notFound } from '@bunting/contracts';
import { type Database, momentSql, type Statement } from '@bunting/database';
import { named } from '../../domain/refusals.ts';
import { joinLastHour } from '../features/feature-json.ts';

const about = `'version', 1, 'maturity', 'stable', 'featureName', f.name`;

const kept = (hours: string): string => `
  feature_usage_hour kept join environment e on e.name = kept.environment
  where kept.feature = f.name and kept.hour > now() - ${hours}`;

const lately: Statement = {
  name: 'usage-of-feature',
  text: `
    select json_build_object(${about},
      'lastHourUsage', coalesce((
        select json_agg(json_build_object(
          'environment', e.name, 'timestamp', ${momentSql("date_trunc('hour', seen.last_seen_at, 'UTC')")},
          'yes', lately.yes, 'no', lately.no) order by e.sort_order, e.name)
        from feature_seen seen join environment e on e.name = seen.environment ${joinLastHour('seen')}
        where seen.feature = f.name and lately.yes + lately.no > 0), '[]'),
      'seenApplications', coalesce((
        select json_agg(app_name order by app_name)
        from (select distinct kept.app_name from ${kept("interval '2 hours'")}) as applications), '[]'))::text as json
    from feature f where f.name = $1 and f.project <> all ($2::text[])`,
};

const byHour: Statement = {
  name: 'usage-of-feature-by-hour',
  text: `
    select json_build_object(${about},
      'data', coalesce((
        select json_agg(json_build_object(
          'featureName', f.name, 'appName', kept.app_name, 'environment', kept.environment,
          'timestamp', ${momentSql('kept.hour')}, 'yes', kept.yes, 'no', kept.no, 'variants', kept.variants)
          order by kept.hour desc, e.sort_order, e.name, kept.app_name)
        from ${kept('make_interval(hours => $2::integer)')}), '[]'))::text as json
    from feature f where f.name = $1 and f.project <> all ($3::text[])`,
};

/** What was counted: each answer is JSON, made in one statement. */
export const usageReader = (database: Database) => {
  const found = async (statement: Statement, values: readonly unknown[], missing: string): Promise<string> => {
    const [row] = await database.read<{ json: string }>(statement, values);
    if (row === undefined) throw notFound(missing);
    return row.json;
  };
  const noFeature = (name: string): string => `Could not find feature with name ${named(name)}`;

  return {
    /** The evaluations of the last hour. */
    lastHour: (feature: string, hidden: readonly string[]): Promise<string> =>
      found(lately, [feature, hidden], noFeature(feature)),
    /** The evaluations by hour, as many hours back. */
    byHour: (feature: string, hoursBack: number, hidden: readonly string[]): Promise<string> =>
      found(byHour, [feature, hoursBack, hidden], noFeature(feature)),
  };
};
export type UsageReader = ReturnType<typeof usageReader>;
