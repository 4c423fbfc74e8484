import type { FeatureState, Tag } from '@bunting/contracts';
import type { Tx } from '@bunting/database';
import type { Outbox, RecordEvents } from '@bunting/outbox';
import type { DomainEvent } from '../features/feature.ts';
import { featureStatesSql } from '../unit-of-work/feature-sql.ts';
import { usageRetentionHours } from '../usage/usage-store.ts';

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

// The usage of the last hour changes when a report is counted, and an hour after the last count.
const isEmittedUsageOutdated = `emitted_at < now() - interval '1 minute' and (
  last_seen_at >= emitted_at
  or (last_seen_at < now() - interval '61 minutes' and emitted_at < last_seen_at + interval '61 minutes'))`;

// Locks features before their usage, as reports do.
const markUsageEmittedSql = `
  with locked_feature as (
    select name from feature where name in (select feature from feature_seen where ${isEmittedUsageOutdated})
    order by name limit $1::integer for no key update skip locked
  ), emitted_usage as (
    update feature_seen seen set emitted_at = now() from locked_feature where seen.feature = locked_feature.name and ${isEmittedUsageOutdated}
    returning seen.feature
  ), saved as (
    update feature set version = feature.version + 1 where name in (select feature from emitted_usage) returning feature.*
  ) ${featureStatesSql('saved')}`;

const deleteExpiredUsage = `
  with expired as (
    select ctid from feature_usage_hour where hour < now() - interval '${usageRetentionHours} hours'
    limit $1::integer for update skip locked
  )
  delete from feature_usage_hour usage using expired where usage.ctid = expired.ctid returning 1`;

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
      const rows = await query<{ version: number; state: FeatureState }>(markUsageEmittedSql, [limit]);
      for (const { version, state } of rows) outbox.emitState({ entity: 'feature', id: state.name, version, state });
      return rows.length;
    },

    /** Deletes usage that is older than the retention period; returns how many rows. */
    deleteExpiredUsage: async (limit: number): Promise<number> => (await query(deleteExpiredUsage, [limit])).length,

    /** Deletes applications without a report for `days`; returns how many. */
    deleteInactiveApplications: async (days: number, limit: number): Promise<number> =>
      (await query(deleteUnseen('client_application', 'make_interval(days => $2::integer)'), [limit, days])).length,

    /**
     * Deletes instances, missing features and Edge instances without a report for the retention period of usage; returns the highest of the
     * counts.
     */
    deleteInactiveInstances: async (limit: number): Promise<number> => {
      const removed = await Promise.all(
        ['client_instance', 'client_missing_feature', 'edge_instance'].map((table) =>
          query(deleteUnseen(table, `interval '${usageRetentionHours} hours'`), [limit]),
        ),
      );
      return Math.max(...removed.map((rows) => rows.length));
    },
  };
}
