import type { Database, Statement, Tx } from '@bunting/database';
import {
  ChangeEntity,
  ChangeRequestEntity,
  DeletedUserEntity,
  openStates,
  UnsyncedProtectionEntity,
  ScheduleEntity,
} from './entities.ts';

/** A change of the protection of an environment. */
export interface Protection {
  readonly version: number;
  readonly project: string;
  readonly environment: string;
  readonly isProtected: boolean;
}

interface RequestOfUser {
  readonly id: number;
  readonly userId: number;
}

const msUntil = (moment: string): string => `extract(epoch from ${moment} - clock_timestamp()) * 1000`;

const next: Statement = {
  name: 'next-pending-work',
  text: `
    select least(
      (select 0 from unsynced_protection limit 1),
      (select ${msUntil('min(applying_since)')} + $1::integer from change_request where applying is not null and id <> all ($2::bigint[])),
      (select 0 from schedule join change_request request on request.id = schedule.change_request_id
       where schedule.touched > 0 and request.applying is null and request.id <> all ($3::bigint[]) limit 1),
      (select ${msUntil('schedule.scheduled_at')} from schedule join change_request request on request.id = schedule.change_request_id
       where schedule.status = 'pending' and request.applying is null and request.id <> all ($2::bigint[])
       order by schedule.scheduled_at limit 1)
    )::float8 as "inMs"`,
};

const interrupted: Statement = {
  name: 'interrupted-change-requests',
  text: `
    select id from change_request
    where applying is not null and applying_since <= clock_timestamp() - $1::integer * interval '1 millisecond'
      and id <> all ($2::bigint[])
    order by id limit 20`,
};

const due: Statement = {
  name: 'due-change-requests',
  text: `
    select request.id, schedule.by_id as "userId" from schedule join change_request request on request.id = schedule.change_request_id
    where schedule.status = 'pending' and schedule.scheduled_at <= clock_timestamp() and request.applying is null
      and request.id <> all ($1::bigint[])
    order by schedule.scheduled_at, request.id limit 20`,
};

/** Skips requests that are being applied, and schedules that are already suspended. */
const ofDeletedUsers: Statement = {
  name: 'change-requests-of-deleted-users',
  text: `
    with of_deleted_users as (
      select request.id, user_id from deleted_user join change_request request on request.created_by_id = user_id
      where request.state in ${openStates}
      union
      select request.id, user_id from deleted_user join change_request request on request.created_by_id = user_id
        join schedule on schedule.change_request_id = request.id and schedule.status <> 'suspended'
      union
      select request.id, user_id from deleted_user join approval on approval.created_by_id = user_id
        join change_request request on request.id = approval.change_request_id
      where request.state in ${openStates} or request.state = 'Scheduled'
      union
      select schedule.change_request_id, user_id from deleted_user join schedule on schedule.by_id = user_id
      where schedule.status <> 'suspended'
    )
    select of_deleted_users.id, user_id as "userId" from of_deleted_users join change_request request using (id)
    where request.applying is null order by of_deleted_users.id, user_id limit 50`,
};

const touched: Statement = {
  name: 'touched-change-requests',
  text: `
    select request.id, request.project, schedule.touched
    from schedule join change_request request on request.id = schedule.change_request_id
    where schedule.touched > 0 and request.applying is null and request.id <> all ($1::bigint[]) order by request.id limit 50`,
};

const unsyncedProtections: Statement = {
  name: 'unsynced-protections',
  text: `select version, project, environment, is_protected as "isProtected" from unsynced_protection order by version limit 100`,
};

const overdue: Statement = {
  name: 'overdue-change-requests',
  text: `
    select extract(epoch from clock_timestamp() - min(schedule.scheduled_at))::float8 * 1000 as ms
    from schedule join change_request request on request.id = schedule.change_request_id
    where schedule.status = 'pending' and schedule.scheduled_at <= clock_timestamp() and request.applying is null`,
};

/** Ids of requests whose last attempt failed and whose pause has not ended. */
export interface PausedWork {
  readonly applying: readonly number[];
  readonly checking: readonly number[];
}

/** Reads the work of the runner, which no call triggers. Paused requests are left out. */
export const pendingWorkReader = (database: Database) => ({
  /** Milliseconds until the next work is due, not counting deleted users: at most 0 if work is due; undefined if there is none. */
  nextInMs: async (recoveryMs: number, { applying, checking }: PausedWork): Promise<number | undefined> =>
    (await database.read<{ inMs: number | null }>(next, [recoveryMs, applying, checking]))[0]?.inMs ?? undefined,
  /** Requests whose attempt to apply them started at least `afterMs` milliseconds ago and has not ended. */
  interrupted: (afterMs: number, paused: readonly number[]): Promise<{ readonly id: number }[]> =>
    database.read(interrupted, [afterMs, paused]),
  /** Due requests, with the user who scheduled each. */
  due: (paused: readonly number[]) => database.read<RequestOfUser>(due, [paused]),
  /** By how many milliseconds the oldest due request is late that has not begun; 0 without one. */
  overdueMs: async (): Promise<number> => (await database.read<{ ms: number | null }>(overdue))[0]?.ms ?? 0,
  /** Requests not closed that still depend on a deleted user, with that user. */
  ofDeletedUsers: () => database.read<RequestOfUser>(ofDeletedUsers),
  /** Changes of protection that the features service has not confirmed, oldest first. */
  unsyncedProtections: () => database.read<Protection>(unsyncedProtections),
  /** Scheduled requests that affect a changed object, with a counter of those changes. */
  touched: (paused: readonly number[]) =>
    database.read<{ readonly id: number; readonly project: string; readonly touched: number }>(touched, [paused]),
});
export type PendingWorkReader = ReturnType<typeof pendingWorkReader>;

const claimDue = `
  select extract(epoch from clock_timestamp() - schedule.scheduled_at)::float8 * 1000 as late
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
    (await tx.query<{ late: number }>(claimDue, [id]))[0]?.late,
  /** Marks the changes up to the counter `seen` as checked for conflicts. */
  conflictsChecked: async (id: number, seen: number): Promise<void> => {
    await tx.em.nativeUpdate(ScheduleEntity, { request: id, touched: seen }, { touched: 0 });
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

const touch = `
  update schedule set touched = touched + 1
  from change_request request
  where request.id = schedule.change_request_id and schedule.status <> 'suspended' and exists (
    select from change where change.change_request_id = request.id
      and (change.feature = any ($1::text[]) or change.segment_id = any ($2::integer[])
        or change.action = 'addDependency' and change.payload ->> 'feature' = any ($1::text[])))`;

const touchPlace = `
  update schedule set touched = touched + 1
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
  if (changed.features.length + changed.segments.length > 0) await query(touch, [changed.features, changed.segments]);
  if (changed.projects.length > 0) await query(touchPlace, [changed.projects]);
};

/** Removes the deleted users: after a restored backup of the gateway their ids may be given to others. Their events are consumed again. */
export const removeDeletedUsers = async ({ em }: Tx): Promise<void> => {
  await em.nativeDelete(DeletedUserEntity, {});
};

/** Stores deleted users, and removes their names from their proposals. */
export const addDeletedUsers = async ({ em }: Tx, userIds: readonly number[]): Promise<void> => {
  await em.upsertMany(
    DeletedUserEntity,
    userIds.map((userId) => ({ userId })),
    { onConflictAction: 'ignore' },
  );
  const theirs = { createdBy: { id: { $in: [...userIds] } } };
  await em.nativeUpdate(ChangeRequestEntity, theirs, { createdBy: { name: null } });
  await em.nativeUpdate(ChangeEntity, theirs, { createdBy: { name: null } });
};
