import { momentSql, type Tx } from '@bunting/database';
import type {
  MissingFeature,
  NewApplications,
  ReportedApplication,
  SeenApplication,
} from '../../domain/applications.ts';

/** An application that is told of. */
export interface AnnouncedApplication {
  readonly appName: string;
  readonly sdkVersion: string | null;
  readonly strategies: readonly string[];
  readonly createdAt: string;
}

/** What people say of an application; what is left out stays as it is. */
export interface ApplicationDescription {
  readonly appName: string;
  readonly description?: string | null | undefined;
  readonly url?: string | null | undefined;
  readonly color?: string | null | undefined;
  readonly icon?: string | null | undefined;
  readonly sdkVersion?: string | null | undefined;
  readonly strategies?: readonly string[] | undefined;
  readonly createdBy: string;
}

/** SQL: the application in the row `a` is used, and only in projects of that list. */
export const usedOnlyIn = (projects: string): string => `(
  exists (select from client_application_usage used where used.app_name = a.app_name) and not exists (
    select from client_application_usage used where used.app_name = a.app_name and used.project <> all (${projects}::text[])))`;

/** The largest number of instances, and of missing flags, that are stored for one application in one environment. */
const instancesLimit = 1_000;
const missingLimit = 100;

const given = `
  it as materialized (
    select * from json_to_recordset($1::json) as it (nth integer, "appName" text, "sdkVersion" text, strategies jsonb, projects jsonb,
      environment text, "instanceId" text, "isFrontend" boolean, "createdBy" text))`;

/** What was seen within the last minute, and looks as it did then, is not written again: reports do not queue for it. */
const known = `
  with ${given}
  select it.nth, a.app_name is not null and (it."isFrontend" or not a.is_frontend) as "isAnnounced", a.app_name is not null as "isKnown",
    coalesce(a.last_seen_at > $2::timestamptz - interval '1 minute'
      and coalesce(it."sdkVersion", a.sdk_version) is not distinct from a.sdk_version
      and coalesce(it.strategies, a.strategies) = a.strategies, false)
    and not exists (
      select from jsonb_array_elements_text(it.projects) as project
      where not exists (
        select from client_application_usage used
        where used.app_name = it."appName" and used.project = project.value and used.environment = it.environment))
    and (it."instanceId" is null or exists (
      select from client_instance i
      where i.app_name = it."appName" and i.environment = it.environment and i.instance_id = it."instanceId"
        and i.last_seen_at > $2::timestamptz - interval '1 minute'
        and coalesce(it."sdkVersion", i.sdk_version) is not distinct from i.sdk_version)) as "isFresh"
  from it left join client_application a on a.app_name = it."appName" order by it.nth`;

const see = `
  with ${given},
  app as (select distinct on ("appName") * from it order by "appName", nth desc),
  before as (select app_name, is_frontend from client_application where app_name in (select "appName" from it)),
  saved as (
    insert into client_application as known (app_name, sdk_version, strategies, created_at, last_seen_at, is_frontend, created_by)
    select "appName", "sdkVersion", coalesce(strategies, '[]'), $2::timestamptz, $2::timestamptz, "isFrontend", "createdBy"
    from app order by 1
    on conflict (app_name) do update set
      sdk_version = coalesce(excluded.sdk_version, known.sdk_version),
      strategies = case when excluded.strategies = '[]' then known.strategies else excluded.strategies end,
      last_seen_at = greatest(known.last_seen_at, excluded.last_seen_at),
      is_frontend = known.is_frontend and excluded.is_frontend
    returning *
  ), used as (
    insert into client_application_usage (app_name, project, environment)
    select distinct "appName", project.value, environment from it cross join jsonb_array_elements_text(projects) as project
    order by 1, 2, 3
    on conflict do nothing
  ), running as (
    insert into client_instance as known (app_name, environment, instance_id, sdk_version, created_at, last_seen_at)
    select distinct on ("appName", environment, "instanceId")
      "appName", environment, "instanceId", "sdkVersion", $2::timestamptz, $2::timestamptz
    from it where "instanceId" is not null and (
      exists (select from client_instance i
        where i.app_name = "appName" and i.environment = it.environment and i.instance_id = "instanceId")
      or (select count(*) from client_instance i where i.app_name = "appName" and i.environment = it.environment) < ${instancesLimit})
    order by 1, 2, 3, nth desc
    on conflict (app_name, environment, instance_id) do update set
      sdk_version = coalesce(excluded.sdk_version, known.sdk_version),
      last_seen_at = greatest(known.last_seen_at, excluded.last_seen_at)
  ), asked as materialized (
    select * from json_to_recordset($3::json) as asked ("appName" text, environment text, feature text)
  ), present as (
    select app_name from client_application where app_name in (select "appName" from asked) for key share
  ), missing as (
    insert into client_missing_feature as known (app_name, environment, feature, last_seen_at)
    select "appName", asked.environment, asked.feature, $2::timestamptz
    from asked left join client_missing_feature m on m.app_name = "appName" and (m.environment, m.feature) = (asked.environment, asked.feature)
    where "appName" in (select app_name from present union all select app_name from saved)
      and case when m.app_name is null
        then (select count(*) from client_missing_feature o where o.app_name = "appName" and o.environment = asked.environment) < ${missingLimit}
        else m.last_seen_at <= $2::timestamptz - interval '1 minute' end
    order by 1, 2, 3
    on conflict (app_name, environment, feature) do update set last_seen_at = greatest(known.last_seen_at, excluded.last_seen_at)
  )
  select saved.app_name as "appName", sdk_version as "sdkVersion", strategies, ${momentSql('created_at')} as "createdAt"
  from saved left join before using (app_name)
  where not saved.is_frontend and coalesce(before.is_frontend, true)
  order by 1`;

const lock = "select pg_advisory_xact_lock(hashtext('applications'), 0)";

const count = 'select count(*) as all, count(*) filter (where is_frontend) as frontend from client_application';

const describe = `
  insert into client_application as known (app_name, description, url, color, icon, sdk_version, strategies, created_by, created_at,
    updated_at, last_seen_at)
  values ($1, $2, $3, $4, $5, $6, coalesce($7::jsonb, '[]'), $8, $9::timestamptz, $9::timestamptz, $9::timestamptz)
  on conflict (app_name) do update set
    description = coalesce(excluded.description, known.description), url = coalesce(excluded.url, known.url),
    color = coalesce(excluded.color, known.color), icon = coalesce(excluded.icon, known.icon),
    sdk_version = coalesce(excluded.sdk_version, known.sdk_version), strategies = coalesce($7::jsonb, known.strategies),
    updated_at = excluded.updated_at`;

/** Applications within a unit of work. However many a report names, each of these is a fixed number of statements. */
export const applicationRepository = ({ query }: Tx) => {
  const counted = async (): Promise<NewApplications> => {
    await query(lock);
    // A statement of its own: it sees what was committed while the lock was waited for.
    return (await query<NewApplications>(count))[0] ?? { all: 0, frontend: 0 };
  };
  const numbered = (applications: readonly SeenApplication[]): string =>
    JSON.stringify(applications.map((application, nth) => ({ ...application, nth })));

  return {
    /** How many applications there are; no other unit of work that asks adds or announces one until the end of this one. */
    lockAndCount: counted,
    /** What is known of the applications of a report. */
    findReported: async (applications: readonly SeenApplication[], now: Date): Promise<ReportedApplication[]> =>
      applications.length === 0 ? [] : query(known, [numbered(applications), now.toISOString()]),

    /**
     * Stores that applications were seen, with their instances and the flags that they asked for and that there are not. Returns those that are
     * announced by this: new ones, and those that only frontend keys had named before.
     */
    recordSeen: async (
      applications: readonly SeenApplication[],
      missing: readonly MissingFeature[],
      now: Date,
    ): Promise<AnnouncedApplication[]> => {
      if (applications.length === 0 && missing.length === 0) return [];
      const values = [numbered(applications), now.toISOString(), JSON.stringify(missing)];
      return query<AnnouncedApplication>(see, values);
    },

    /** Creates an application or changes what people say of it. False when it is new and there is no room for it. */
    describe: async (
      { appName, createdBy, ...about }: ApplicationDescription,
      now: Date,
      limit: number,
    ): Promise<'created' | 'changed' | 'full'> => {
      const { all } = await counted();
      const isNew = (await query('select from client_application where app_name = $1', [appName])).length === 0;
      if (isNew && all >= limit) return 'full';
      const { description, url, color, icon, sdkVersion, strategies } = about;
      const list = strategies === undefined ? null : JSON.stringify(strategies);
      const said = [description, url, color, icon, sdkVersion].map((text) => text ?? null);
      await query(describe, [appName, ...said, list, createdBy, now.toISOString()]);
      return isNew ? 'created' : 'changed';
    },

    /** False when there is no such application that is used anywhere but in the hidden projects. */
    remove: async (appName: string, hidden: readonly string[]): Promise<boolean> => {
      const text = `delete from client_application a where a.app_name = $1 and not ${usedOnlyIn('$2')} returning app_name`;
      return (await query(text, [appName, hidden])).length > 0;
    },
  };
};
export type ApplicationRepository = ReturnType<typeof applicationRepository>;
