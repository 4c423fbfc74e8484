import type { FeatureState, Tag } from '@bunting/contracts';
import type { Tx } from '@bunting/database';
import type { Outbox } from '@bunting/outbox';
import { statesOf } from './features/feature-json.ts';
import { usageRetentionHours } from './usage/usage-repository.ts';

/** A feature that has become older than features of its type are expected to. */
export interface OutlivedFeature {
  readonly name: string;
  readonly project: string;
  readonly tags: readonly Tag[];
}

const outlived = `type.id = f.type and f.created_at < now() - make_interval(days => type.lifetime_days)`;

const markAged = `
  with aged as (
    select f.name from feature f join feature_type type on ${outlived}
    where f.archived_at is null and not f.stale and not f.potentially_stale
    order by f.name limit $1::integer for no key update of f skip locked
  )
  update feature f set potentially_stale = true from aged where f.name = aged.name
  returning f.name, f.project, f.tags`;

const unmarkRejuvenated = `
  with young as (
    select f.name from feature f
    where f.potentially_stale and f.archived_at is null and not exists (select from feature_type type where ${outlived})
    order by f.name for no key update skip locked
  )
  update feature f set potentially_stale = false from young where f.name = young.name`;

// Figures change when something is counted, and once more when the last that was counted is an hour old.
const untold = `told_at < now() - interval '1 minute' and (
  last_seen_at >= told_at
  or (last_seen_at < now() - interval '61 minutes' and told_at < last_seen_at + interval '61 minutes'))`;

// Features are locked before their figures, as those who report do.
const tellFigures = `
  with free as (
    select name from feature where name in (select feature from feature_seen where ${untold})
    order by name limit $1::integer for no key update skip locked
  ), noted as (
    update feature_seen seen set told_at = now() from free where seen.feature = free.name and ${untold}
    returning seen.feature
  ), saved as (
    update feature set version = feature.version + 1 where name in (select feature from noted) returning feature.*
  ) ${statesOf('saved')}`;

const dropOldFigures = `
  with old as (
    select ctid from feature_usage_hour where hour < now() - interval '${usageRetentionHours} hours'
    limit $1::integer for update skip locked
  )
  delete from feature_usage_hour kept using old where kept.ctid = old.ctid returning 1`;

const removeUnseen = (table: string, age: string): string => `
  with old as (
    select ctid from ${table} where last_seen_at < now() - ${age} limit $1::integer for update skip locked
  )
  delete from ${table} kept using old where kept.ctid = old.ctid returning 1`;

/** What time brings about, within a unit of work. What one process is at, another passes over. */
export const housekeepingRepository = ({ query }: Tx, outbox: Outbox) => ({
  /** Marks some of the features that have outlived their type, and answers them: each is answered once, to one process. */
  markPotentiallyStale: (atMost: number): Promise<OutlivedFeature[]> => query(markAged, [atMost]),
  /** Takes the mark off features that no longer deserve it: their type or its lifetime was changed. */
  unmarkPotentiallyStale: async (): Promise<void> => void (await query(unmarkRejuvenated)),

  /** Tells the states of some features whose figures have changed since they were told; how many those were. */
  emitUsageStates: async (atMost: number): Promise<number> => {
    const rows = await query<{ version: number; state: FeatureState }>(tellFigures, [atMost]);
    for (const { version, state } of rows) outbox.state({ entity: 'feature', id: state.name, version, state });
    return rows.length;
  },

  /** Drops some of the figures that are too old; how many those were. */
  deleteExpiredUsage: async (atMost: number): Promise<number> => (await query(dropOldFigures, [atMost])).length,

  /** Removes some of the applications that were not seen for so many days; returns how many. */
  deleteInactiveApplications: async (days: number, limit: number): Promise<number> =>
    (await query(removeUnseen('client_application', 'make_interval(days => $2::integer)'), [limit, days])).length,

  /** Removes some of the instances and missing features that were not seen for as long as figures are stored; returns how many. */
  deleteInactiveInstances: async (limit: number): Promise<number> => {
    const removed = await Promise.all(
      ['client_instance', 'client_missing_feature'].map((table) =>
        query(removeUnseen(table, `interval '${usageRetentionHours} hours'`), [limit]),
      ),
    );
    return Math.max(...removed.map((rows) => rows.length));
  },
});
export type HousekeepingRepository = ReturnType<typeof housekeepingRepository>;
