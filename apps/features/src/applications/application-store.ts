import { onlyRow, timestampSql, type Tx } from '@bunting/database';
import type { RecordEvents } from '@bunting/outbox';
import type { DomainEvent } from '../features/feature.ts';
import type {
  AnnouncedApplication,
  ApplicationCounts,
  ApplicationDescription,
  ApplicationLookup,
  MissingFeature,
  ReportedApplicationInstance,
} from './application.ts';

/** SQL: whether all uses of the application in the row `a` are in the given projects, and there is at least one. */
export function isUsedOnlyInSql(projects: string): string {
  return `(
  exists (select from client_application_usage used where used.app_name = a.app_name) and not exists (
    select from client_application_usage used where used.app_name = a.app_name and used.project <> all (${projects}::text[])))`;
}

/** SQL: whether the feature in the row `m` is missing: not active in a project of the application's tokens, and not in a hidden project. */
export function isFeatureMissingSql(hidden: string, row = 'm'): string {
  return `not exists (
  select from feature f where f.name = ${row}.feature and (f.project = any (${hidden}::text[]) or f.archived_at is null and exists (
    select from client_application_usage used where used.app_name = ${row}.app_name and used.project in ('*', f.project))))
  and not exists (
    select from unnest(${hidden}::text[]) as hidden (project) join outbox former
    on former.topic = 'delivery' and former.entity_key = 'former-feature:' || ${row}.feature || ' ' || hidden.project)`;
}

/** The maximum numbers of instances, and of missing flags, that are stored for one application in one environment. */
const maxInstances = 1_000;
const maxMissingFlags = 100;

/** SQL: the table `reported` of the application instances in `$1`. */
const reportedInstances = `
  reported as materialized (
    select * from json_to_recordset($1::json) as instance (index integer, "appName" text, "sdkVersion" text, strategies jsonb, projects jsonb,
      environment text, "instanceId" text, "isFrontend" boolean, "createdBy" text))`;

/** SQL: the table `given_missing` of the missing features in `$2`. */
const givenMissing = `
  given_missing as materialized (
    select * from json_to_recordset($2::json) as given_missing ("appName" text, environment text, feature text)
  )`;

/**
 * Locks the applications that get new instances or missing features, so that of concurrent reports the later one counts what the earlier
 * one has stored. New applications need no lock: whoever adds one holds that of all applications.
 */
const lockGrowing = `
  with ${reportedInstances}, ${givenMissing}, growing as (
    select "appName" from reported where "instanceId" is not null and not exists (
      select from client_instance i where i.app_name = "appName" and i.environment = reported.environment and i.instance_id = "instanceId")
    union
    select "appName" from given_missing where not exists (
      select from client_missing_feature m
      where m.app_name = "appName" and m.environment = given_missing.environment and m.feature = given_missing.feature)
  )
  select from client_application where app_name in (select "appName" from growing) order by app_name for no key update`;

/**
 * Applications that were seen within the last minute and have not changed are not written, so that reports need not wait for their locks.
 * Browsers have several versions of a page open, so that another version of their SDK alone is written once a minute.
 */
const findReported = `
  with ${reportedInstances}
  select reported.index, a.app_name is not null and (reported."isFrontend" or not a.is_frontend) as "needsNoCreatedEvent", a.app_name is not null as "isKnown",
    coalesce(a.last_seen_at > $2::timestamptz - interval '1 minute'
      and (coalesce(reported."sdkVersion", a.sdk_version) is not distinct from a.sdk_version
        or reported."isFrontend" and a.sdk_version is not null)
      and coalesce(reported.strategies, a.strategies) = a.strategies, false)
    and not exists (
      select from jsonb_array_elements_text(reported.projects) as project
      where not exists (
        select from client_application_usage used
        where used.app_name = reported."appName" and used.project = project.value and used.environment = reported.environment))
    and (reported."instanceId" is null or exists (
      select from client_instance i
      where i.app_name = reported."appName" and i.environment = reported.environment and i.instance_id = reported."instanceId"
        and i.last_seen_at > $2::timestamptz - interval '1 minute'
        and coalesce(reported."sdkVersion", i.sdk_version) is not distinct from i.sdk_version)) as "needsNoWrite"
  from reported left join client_application a on a.app_name = reported."appName" order by reported.index`;

const recordSeen = `
  with ${reportedInstances},
  app as (select distinct on ("appName") * from reported order by "appName", index desc),
  before as (select app_name, is_frontend from client_application where app_name in (select "appName" from reported)),
  saved as (
    insert into client_application as known (app_name, sdk_version, strategies, created_at, last_seen_at, is_frontend, created_by)
    select "appName", "sdkVersion", coalesce(strategies, '[]'), $3::timestamptz, $3::timestamptz, "isFrontend", "createdBy"
    from app order by 1
    on conflict (app_name) do update set
      sdk_version = coalesce(excluded.sdk_version, known.sdk_version),
      strategies = case when excluded.strategies = '[]' then known.strategies else excluded.strategies end,
      last_seen_at = greatest(known.last_seen_at, excluded.last_seen_at),
      is_frontend = known.is_frontend and excluded.is_frontend
    returning *
  ), used as (
    insert into client_application_usage (app_name, project, environment)
    select distinct "appName", project.value, environment from reported cross join jsonb_array_elements_text(projects) as project
    order by 1, 2, 3
    on conflict do nothing
  ), running as (
    insert into client_instance as known (app_name, environment, instance_id, sdk_version, created_at, last_seen_at)
    select "appName", environment, "instanceId", "sdkVersion", $3::timestamptz, $3::timestamptz
    from (
      select instance.*, row_number() over (partition by "appName", environment, is_new order by "instanceId") as nth
      from (
        select distinct on ("appName", reported.environment, "instanceId") "appName", reported.environment, "instanceId", "sdkVersion",
          i.app_name is null as is_new
        from reported left join client_instance i on i.app_name = "appName" and i.environment = reported.environment and i.instance_id = "instanceId"
        where "instanceId" is not null order by 1, 2, 3, index desc) as instance
    ) as instance
    where case when is_new
      then nth + (select count(*) from client_instance i where i.app_name = "appName" and i.environment = instance.environment) <= ${maxInstances}
      else true end
    order by 1, 2, 3
    on conflict (app_name, environment, instance_id) do update set
      sdk_version = coalesce(excluded.sdk_version, known.sdk_version),
      last_seen_at = greatest(known.last_seen_at, excluded.last_seen_at)
  ), ${givenMissing}, present as (
    select app_name from client_application where app_name in (select "appName" from given_missing) for key share
  ), missing as (
    insert into client_missing_feature as known (app_name, environment, feature, last_seen_at)
    select "appName", environment, feature, $3::timestamptz
    from (
      select given.*, m.last_seen_at, m.app_name is null as is_new,
        row_number() over (partition by "appName", given.environment, m.app_name is null order by given.feature) as nth
      from (select distinct "appName", environment, feature from given_missing) as given
      left join client_missing_feature m on m.app_name = "appName" and (m.environment, m.feature) = (given.environment, given.feature)
      where "appName" in (select app_name from present union all select app_name from saved)
    ) as given
    where case when is_new
      then nth + (select count(*) from client_missing_feature o where o.app_name = "appName" and o.environment = given.environment) <= ${maxMissingFlags}
      else last_seen_at <= $3::timestamptz - interval '1 minute' end
    order by 1, 2, 3
    on conflict (app_name, environment, feature) do update set last_seen_at = greatest(known.last_seen_at, excluded.last_seen_at)
  )
  select saved.app_name as "appName", sdk_version as "sdkVersion", strategies, ${timestampSql('created_at')} as "createdAt"
  from saved left join before using (app_name)
  where not saved.is_frontend and coalesce(before.is_frontend, true)
  order by 1`;

const lockApplicationsSql = "select pg_advisory_xact_lock(hashtext('applications'), 0)";

const countApplicationsSql =
  'select count(*) as all, count(*) filter (where is_frontend) as frontend from client_application';

const saveDescriptionSql = `
  insert into client_application as known (app_name, description, url, color, icon, sdk_version, strategies, created_by, created_at,
    updated_at, last_seen_at)
  values ($1, $2, $3, $4, $5, $6, coalesce($7::jsonb, '[]'), $8, $9::timestamptz, $9::timestamptz, $9::timestamptz)
  on conflict (app_name) do update set
    description = coalesce(excluded.description, known.description), url = coalesce(excluded.url, known.url),
    color = coalesce(excluded.color, known.color), icon = coalesce(excluded.icon, known.icon),
    sdk_version = coalesce(excluded.sdk_version, known.sdk_version), strategies = coalesce($7::jsonb, known.strategies),
    updated_at = excluded.updated_at`;

/** Applications within a transaction. Each method takes a fixed number of statements, for any number of applications in a report. */
export function applicationRepository({ query, send }: Tx, recordEvents: RecordEvents) {
  const lockAndCount = async (): Promise<ApplicationCounts> => {
    await query(lockApplicationsSql);
    // A second statement: it sees what other transactions committed while this one waited for the lock.
    return onlyRow(await query<ApplicationCounts>(countApplicationsSql), countApplicationsSql);
  };
  const toIndexedJson = (applications: readonly ReportedApplicationInstance[]): string =>
    JSON.stringify(applications.map((application, index) => ({ ...application, index })));

  return {
    /** Counts the applications; no other transaction that counts can add or announce one before this one ends. */
    lockAndCount,
    /** Looks up the applications of a report. */
    findReported: async (
      applications: readonly ReportedApplicationInstance[],
      now: Date,
    ): Promise<ApplicationLookup[]> =>
      applications.length === 0 ? [] : query(findReported, [toIndexedJson(applications), now.toISOString()]),

    /**
     * Records that applications were seen, with their instances and the features that they evaluated but that do not exist.
     * @param eventsOf the events of the applications that are new, and of those that only frontend tokens had reported before
     */
    recordSeen: async (
      applications: readonly ReportedApplicationInstance[],
      missing: readonly MissingFeature[],
      now: Date,
      eventsOf: (announced: readonly AnnouncedApplication[]) => readonly DomainEvent[],
    ): Promise<void> => {
      if (applications.length === 0 && missing.length === 0) return;
      const values = [toIndexedJson(applications), JSON.stringify(missing)];
      send(lockGrowing, () => values);
      // A second statement: it counts what other transactions committed while this one waited for the locks.
      recordEvents(eventsOf(await query<AnnouncedApplication>(recordSeen, [...values, now.toISOString()])));
    },

    /** Returns an application of the list, with whether it is used only in hidden projects. */
    find: async (appName: string, hidden: readonly string[]): Promise<{ readonly isHidden: boolean } | undefined> => {
      const text = `select ${isUsedOnlyInSql('$2')} as "isHidden" from client_application a where a.app_name = $1`;
      return (await query<{ isHidden: boolean }>(text, [appName, hidden]))[0];
    },

    /** Creates or updates an application. */
    saveDescription: async (
      { appName, createdBy, ...properties }: ApplicationDescription,
      now: Date,
      events: readonly DomainEvent[],
    ): Promise<void> => {
      const { description, url, color, icon, sdkVersion, strategies } = properties;
      const strategiesJson = strategies === undefined ? null : JSON.stringify(strategies);
      const texts = [description, url, color, icon, sdkVersion].map((text) => text ?? null);
      await query(saveDescriptionSql, [appName, ...texts, strategiesJson, createdBy, now.toISOString()]);
      recordEvents(events);
    },

    /** Returns false if the application does not exist or is used only in hidden projects. Emits no event. */
    remove: async (appName: string, hidden: readonly string[]): Promise<boolean> => {
      const text = `delete from client_application a where a.app_name = $1 and not ${isUsedOnlyInSql('$2')} returning app_name`;
      return (await query(text, [appName, hidden])).length > 0;
    },
  };
}
