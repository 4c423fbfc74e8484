import type { Tx } from '@bunting/database';
import { ScheduleEntity, UnsyncedProtectionEntity } from './entities.ts';
import type { Protection } from './pending-work.ts';

const claimDue = `
  select extract(epoch from clock_timestamp() - schedule.scheduled_at)::float8 * 1000 as "delayMs"
  from change_request request join schedule on schedule.change_request_id = request.id
  where request.id = $1 and request.applying is null and schedule.status = 'pending'
    and schedule.scheduled_at <= clock_timestamp()
  for update of request skip locked`;

/** Locks the protection of an environment until the end of the transaction. */
export const lockProtection = 'select pg_advisory_xact_lock(hashtext($1), hashtext($2))';

/** Whether the features service has the current protection of an environment, or will get it by a newer change. */
const isProtectionCurrent = `
  select exists (select from unsynced_protection where project = $1 and environment = $2)
    or exists (select from protected_environment where project = $1 and environment = $2) = $3::boolean as "isCurrent"`;

const continueVersionsAfter = `
  select setval('unsynced_protection_version_seq', greatest($1::bigint, (select last_value from unsynced_protection_version_seq)))`;

/** Schedules and pending work within a unit of work. */
export const scheduleRepository = (tx: Tx) => ({
  /** Locks a due request unless another replica holds it; returns by how many milliseconds it is late. */
  claimDue: async (id: number): Promise<number | undefined> =>
    (await tx.query<{ delayMs: number }>(claimDue, [id]))[0]?.delayMs,
  /** Marks a schedule as checked for conflicts, unless there were more than `checked` edits in the meantime. */
  conflictsChecked: async (id: number, checked: number): Promise<void> => {
    await tx.em.nativeUpdate(ScheduleEntity, { request: id, uncheckedEdits: checked }, { uncheckedEdits: 0 });
  },
  /**
   * Removes a change of protection that the features service has answered with what it stores. After a restored backup of this database,
   * versions are assigned a second time, and that service ignores them: then the versions continue after the stored one, and the current
   * protection is sent once more. Returns whether it has to be sent.
   */
  protectionSynced: async (
    { version, project, environment }: Protection,
    stored: Pick<Protection, 'version' | 'isProtected'>,
  ): Promise<boolean> => {
    await tx.query(lockProtection, [project, environment]);
    await tx.em.nativeDelete(UnsyncedProtectionEntity, { version });
    const [{ isCurrent } = { isCurrent: true }] = await tx.query<{ isCurrent: boolean }>(isProtectionCurrent, [
      project,
      environment,
      stored.isProtected,
    ]);
    if (isCurrent) return false;
    await tx.query(continueVersionsAfter, [stored.version]);
    tx.em.create(UnsyncedProtectionEntity, { project, environment, isProtected: !stored.isProtected });
    await tx.em.flush();
    return true;
  },
});

const countEditsOfObjects = `
  update schedule set unchecked_edits = unchecked_edits + 1
  from change_request request
  where request.id = schedule.change_request_id and schedule.status <> 'suspended' and exists (
    select from change where change.change_request_id = request.id
      and (change.feature = any ($1::text[]) or change.segment_id = any ($2::integer[])
        or change.action = 'addDependency' and change.payload ->> 'feature' = any ($1::text[])))`;

const countEditsOfProjects = `
  update schedule set unchecked_edits = unchecked_edits + 1
  from change_request request
  where request.id = schedule.change_request_id and schedule.status <> 'suspended' and request.project = any ($1::text[])`;

/** Marks the scheduled requests that must be checked for conflicts because an object that they affect was changed. */
export const markSchedulesForConflictCheck = async (
  { query }: Tx,
  changed: {
    readonly features: readonly string[];
    readonly segments: readonly number[];
    readonly projects: readonly string[];
  },
): Promise<void> => {
  if (changed.features.length + changed.segments.length > 0)
    await query(countEditsOfObjects, [changed.features, changed.segments]);
  if (changed.projects.length > 0) await query(countEditsOfProjects, [changed.projects]);
};
