import type { Tag } from '@bunting/contracts';
import type { Tx } from '@bunting/database';
import type { Outbox, RecordEvents } from '@bunting/outbox';
import type { DomainEvent } from '../features/feature.ts';
import { capped, edgeRetentionHours, usageRetentionHours } from '../usage/usage-store.ts';

/** A feature that is older than the lifetime of its type. */
export interface PotentiallyStaleFeature {
  readonly name: string;
  readonly project: string;
  readonly tags: readonly Tag[];
}

const isOutlived = `type.id = f.type and f.created_at < now() - make_interval(days => type.lifetime_days)`;

const markPotentiallyStale = `
  with to_mark as (
    select f.name from feature f join feature_type type on ${isOutlived}
    where f.archived_at is null and not f.stale and not f.potentially_stale
    order by f.name limit $1::integer for no key update of f skip locked
  )
  update feature f set potentially_stale = true from to_mark where f.name = to_mark.name
  returning f.name, f.project, f.tags`;

const unmarkPotentiallyStale = `
  with to_unmark as (
    select f.name from feature f
    where f.potentially_stale and f.archived_at is null and not exists (select from feature_type type where ${isOutlived})
    order by f.name for no key update skip locked
  )
  update feature f set potentially_stale = false from to_unmark where f.name = to_unmark.name`;

// The usage of the last hour changes when a report is counted, and an hour after the last count. What seems to be emitted in the future was emitted
// before the clock was set back.
const isEmittedUsageOutdated = `(emitted_at > now() + interval '1 minute' or emitted_at < now() - interval '1 minute' and (
  last_seen_at >= emitted_at
  or (last_seen_at < now() - interval '61 minutes' and emitted_at < last_seen_at + interval '61 minutes')))`;

// Locks features before their usage, as reports do.
const markUsageEmittedSql = `
  with locked_feature as (
    select name from feature where name in (select feature from feature_seen where ${isEmittedUsageOutdated})
    order by name limit $1::integer for no key update skip locked
  ), emitted_usage as (
    update feature_seen seen set emitted_at = now() from locked_feature where seen.feature = locked_feature.name and ${isEmittedUsageOutdated}
    returning seen.feature
  )
  update feature set version = feature.version + 1 where name in (select feature from emitted_usage) returning name`;

const usageHistoryDays = { hours: 30, days: 400 };

/** SQL: the sums of variants in a list of JSON objects, of at most 200 variants. */
function sumOfVariants(objects: string): string {
  return `coalesce((
    select jsonb_object_agg(name, count) from (
      select name, ${capped('sum(count::bigint)')} as count
      from unnest(${objects}) as one (counts), jsonb_each_text(one.counts) as variant (name, count)
      group by name order by name limit 200) as by_name), '{}')`;
}

function addSums(table: string, key: string, groups: string): string {
  return `
    insert into ${table} as stored (${key}, yes, no, variants)
    select ${groups}, ${capped('sum(yes)')}, ${capped('sum(no)')}, ${sumOfVariants('array_agg(variants)')}
    from of_features group by ${groups} order by ${groups}
    on conflict (${key}) do update set
      yes = ${capped('stored.yes + excluded.yes')}, no = ${capped('stored.no + excluded.no')},
      variants = ${sumOfVariants('array[stored.variants, excluded.variants]')}`;
}

/** Moves counts from the hours of applications to the sums by hour and by day, each once, since they leave and arrive in one statement. */
const rollUpExpiredUsage = `
  with expired as (
    select ctid from feature_usage_hour where hour < now() - interval '${usageRetentionHours} hours'
    limit $1::integer for update skip locked
  ), removed as (
    delete from feature_usage_hour usage using expired where usage.ctid = expired.ctid returning usage.*
  ), existing as (
    select name from feature where name in (select feature from removed) for key share
  ), of_features as (
    select * from removed where feature in (select name from existing)
  ), by_hour as (${addSums('feature_usage_past_hour', 'feature, environment, hour', 'feature, environment, hour')}
  ), by_day as (${addSums('feature_usage_day', 'feature, environment, app_name, day', "feature, environment, app_name, (hour at time zone 'UTC')::date")}
  )
  select 1 from removed`;

function deleteOldSums(table: string, condition: string): string {
  return `
  with expired as (select ctid from ${table} where ${condition} limit $1::integer for update skip locked)
  delete from ${table} target using expired where target.ctid = expired.ctid returning 1`;
}

const deleteOldHours = deleteOldSums(
  'feature_usage_past_hour',
  `hour < now() - interval '${usageHistoryDays.hours} days'`,
);
const deleteOldDays = deleteOldSums(
  'feature_usage_day',
  `day < (now() at time zone 'UTC')::date - ${usageHistoryDays.days}`,
);

function deleteUnseen(table: string, age: string): string {
  return `
  with expired as (
    select ctid from ${table} where last_seen_at < now() - ${age} limit $1::integer for update skip locked
  )
  delete from ${table} target using expired where target.ctid = expired.ctid returning 1`;
}

/** Periodic writes within a transaction. Each skips rows that another process has locked, and handles at most `limit` of them. */
export function housekeepingRepository({ query }: Tx, outbox: Outbox, recordEvents: RecordEvents) {
  return {
    /**
     * Marks features that have outlived the lifetime of their type, each feature once, by one process; returns how many.
     * @param eventsOf the events of the marked features
     */
    markPotentiallyStale: async (
      limit: number,
      eventsOf: (marked: readonly PotentiallyStaleFeature[]) => readonly DomainEvent[],
    ): Promise<number> => {
      const marked = await query<PotentiallyStaleFeature>(markPotentiallyStale, [limit]);
      recordEvents(eventsOf(marked));
      return marked.length;
    },
    /** Removes the mark from features whose type, or its lifetime, was changed. Emits no event. */
    unmarkPotentiallyStale: async (): Promise<void> => void (await query(unmarkPotentiallyStale)),

    /** Emits the states of features whose usage changed since it was last emitted; returns how many. */
    emitUsageStates: async (limit: number): Promise<number> => {
      const rows = await query<{ name: string }>(markUsageEmittedSql, [limit]);
      for (const { name } of rows) outbox.emitChange('feature', name);
      return rows.length;
    },

    /** Adds usage by hour and application that is older than its retention period to the sums, and deletes it; returns how many rows. */
    rollUpExpiredUsage: async (limit: number): Promise<number> => (await query(rollUpExpiredUsage, [limit])).length,

    /** Deletes sums by hour after 30 days and sums by day after 400; returns the higher of the counts. */
    deleteOldSums: async (limit: number): Promise<number> => {
      const hours = await query(deleteOldHours, [limit]);
      const days = await query(deleteOldDays, [limit]);
      return Math.max(hours.length, days.length);
    },

    /** Deletes applications without a report for `days`; returns how many. */
    deleteInactiveApplications: async (days: number, limit: number): Promise<number> =>
      (await query(deleteUnseen('client_application', 'make_interval(days => $2::integer)'), [limit, days])).length,

    /**
     * Deletes instances and missing features without a report for the retention period of usage, and edges without one for a day; returns the
     * highest of the counts.
     */
    deleteInactiveInstances: async (limit: number): Promise<number> => {
      const removed = await Promise.all(
        [
          ['client_instance', usageRetentionHours],
          ['client_missing_feature', usageRetentionHours],
          ['edge_instance', edgeRetentionHours],
        ].map(([table, hours]) => query(deleteUnseen(String(table), `interval '${hours} hours'`), [limit])),
      );
      return Math.max(...removed.map((rows) => rows.length));
    },
  };
}
