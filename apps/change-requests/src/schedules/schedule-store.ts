import { isOverSql, onlyRow, prepared, type ReadDatabase, type Tx } from '@bunting/database';
import type { ProtectionChange } from '../protection/protection-store.ts';
import {
  hasParentSql,
  hasReferenceSql,
  isOpenSql,
  isPendingSql,
  segmentsOfStrategySql,
} from '../requests/request-conditions.ts';
import { ChangeEntity, ChangeRequestEntity, DeletedUserEntity, ScheduleEntity } from '../unit-of-work/entities.ts';
import type { DeletedProject, EditedObjects } from './consumed-events.ts';

interface RequestOfUser {
  readonly id: number;
  readonly userId: number;
}

function msUntil(timestamp: string): string {
  return `extract(epoch from ${timestamp} - clock_timestamp()) * 1000`;
}

const recoveryTimeout = "$1::integer * interval '1 millisecond'";
const isAttemptOver = isOverSql(`applying_since + ${recoveryTimeout}`, recoveryTimeout);

const timeUntilNextJob = prepared(`
  select least(
    (select 0 from unsynced_protection limit 1),
    (select min(case when ${isAttemptOver} then 0 else ${msUntil('applying_since')} + $1::integer end) from change_request
     where applying is not null and id <> all ($2::bigint[])),
    (select 0 from schedule join change_request request on request.id = schedule.change_request_id
     where schedule.unchecked_edits > 0 and request.applying is null and request.id <> all ($3::bigint[]) limit 1),
    (select ${msUntil('schedule.scheduled_at')} from schedule join change_request request on request.id = schedule.change_request_id
     where schedule.status = 'pending' and request.applying is null and request.id <> all ($2::bigint[])
     order by schedule.scheduled_at limit 1)
  )::float8 as "inMs"`);

const interruptedAttempts = prepared(`
  select id from change_request
  where applying is not null and ${isAttemptOver}
    and id <> all ($2::bigint[])
  order by id limit 20`);

const dueSchedules = prepared(`
  select request.id, schedule.by_id as "userId" from schedule join change_request request on request.id = schedule.change_request_id
  where schedule.status = 'pending' and schedule.scheduled_at <= statement_timestamp() and request.applying is null
    and request.id <> all ($1::bigint[])
  order by schedule.scheduled_at, request.id limit 20`);

/** Skips requests that are being applied, and schedules that are already suspended. */
const ofDeletedUsers = prepared(`
  with of_deleted_users as (
    select request.id, user_id from deleted_user join change_request request on request.created_by_id = user_id
    where request.${isPendingSql}
    union
    select request.id, user_id from deleted_user join change_request request on request.created_by_id = user_id
      join schedule on schedule.change_request_id = request.id and schedule.status <> 'suspended'
    union
    select request.id, user_id from deleted_user join approval on approval.created_by_id = user_id
      join change_request request on request.id = approval.change_request_id
    where ${isOpenSql}
    union
    select schedule.change_request_id, user_id from deleted_user join schedule on schedule.by_id = user_id
    where schedule.status <> 'suspended'
  )
  select of_deleted_users.id, user_id as "userId" from of_deleted_users join change_request request using (id)
  where request.applying is null order by of_deleted_users.id, user_id limit 50`);

const uncheckedSchedules = prepared(`
  select request.id, schedule.unchecked_edits as "uncheckedEdits"
  from schedule join change_request request on request.id = schedule.change_request_id
  where schedule.unchecked_edits > 0 and request.applying is null and request.id <> all ($1::bigint[]) order by request.id limit 50`);

const unsyncedProtections = prepared(
  `select version, project, environment, is_protected as "isProtected" from unsynced_protection order by version limit 100`,
);

const delayOfOldestDueSchedule = prepared(`
  select extract(epoch from clock_timestamp() - min(schedule.scheduled_at))::float8 * 1000 as ms
  from schedule join change_request request on request.id = schedule.change_request_id
  where schedule.status = 'pending' and schedule.scheduled_at <= statement_timestamp() and request.applying is null`);

/** The ids of requests whose last attempt failed and whose backoff has not ended. */
export interface RequestsInBackoff {
  readonly applying: readonly number[];
  readonly checking: readonly number[];
}

/** A scheduled request, with the number of edits since the last check of objects that it affects. */
export interface UncheckedSchedule {
  readonly id: number;
  readonly uncheckedEdits: number;
}

/** Reads which background jobs are due. Requests in backoff are left out. */
export function dueJobsReader(database: ReadDatabase) {
  return {
    /** Milliseconds until the next job is due, not counting deleted users: at most 0 if one is due; undefined if there is none. */
    nextInMs: async (recoveryMs: number, { applying, checking }: RequestsInBackoff): Promise<number | undefined> =>
      onlyRow(await database.read<{ inMs: number | null }>(timeUntilNextJob, [recoveryMs, applying, checking])).inMs ??
      undefined,
    /** Requests whose attempt to apply them started at least `afterMs` milliseconds ago and has not ended. */
    interruptedRequests: (afterMs: number, inBackoff: readonly number[]): Promise<{ readonly id: number }[]> =>
      database.read(interruptedAttempts, [afterMs, inBackoff]),
    /** Requests whose scheduled time has come, with the user who scheduled each. */
    scheduledRequests: (inBackoff: readonly number[]) => database.read<RequestOfUser>(dueSchedules, [inBackoff]),
    /** The milliseconds since the scheduled time of the oldest request that is due and has not begun; 0 without one. */
    overdueMs: async (): Promise<number> =>
      onlyRow(await database.read<{ ms: number | null }>(delayOfOldestDueSchedule)).ms ?? 0,
    /** Open requests that still depend on a deleted user, with that user. */
    requestsOfDeletedUsers: () => database.read<RequestOfUser>(ofDeletedUsers),
    /** Changes of protection that the features service has not confirmed, oldest first. */
    unsyncedProtections: () => database.read<ProtectionChange>(unsyncedProtections),
    /** Scheduled requests to check for conflicts. */
    uncheckedSchedules: (inBackoff: readonly number[]) =>
      database.read<UncheckedSchedule>(uncheckedSchedules, [inBackoff]),
  };
}
export type DueJobsReader = ReturnType<typeof dueJobsReader>;

const lockDueRequestSql = `
  select extract(epoch from clock_timestamp() - schedule.scheduled_at)::float8 * 1000 as "delayMs"
  from change_request request join schedule on schedule.change_request_id = request.id
  where request.id = $1 and request.applying is null and schedule.status = 'pending'
    and schedule.scheduled_at <= clock_timestamp()
  for update of request skip locked`;

/** Schedules within a unit of work. */
export function scheduleRepository(tx: Tx) {
  return {
    /** Locks a request whose scheduled time has come, unless another replica holds it, and returns its delay in milliseconds. */
    lockDueRequest: async (id: number): Promise<number | undefined> =>
      (await tx.query<{ delayMs: number }>(lockDueRequestSql, [id]))[0]?.delayMs,
    /** Marks a schedule as checked for conflicts, unless there were more than `checked` edits in the meantime. */
    markChecked: async (id: number, checked: number): Promise<void> => {
      await tx.em.nativeUpdate(ScheduleEntity, { request: id, uncheckedEdits: checked }, { uncheckedEdits: 0 });
    },
  };
}

/** `$1` features, `$2` segments, `$3` projects, `$4` whether any request may name an edited object. */
const incrementUncheckedEditsSql = `
  update schedule set unchecked_edits = unchecked_edits + 1
  from change_request request
  where request.id = schedule.change_request_id and schedule.status <> 'suspended' and (
    $4::boolean or request.project = any ($3::text[]) or exists (
      select from change where change.change_request_id = request.id and (
        change.feature = any ($1::text[]) or change.segment_id = any ($2::integer[])
        or ${hasParentSql('$1')}
        or ${hasReferenceSql('segments')} and exists (
          select from ${segmentsOfStrategySql} used (segment) where used.segment = any ($2::integer[]::text[])))))`;

/** Marks the scheduled requests that must be checked for conflicts because an object that they affect or refer to was edited. */
export async function markSchedulesForConflictCheck({ query }: Tx, edited: EditedObjects): Promise<void> {
  const { features, segments, projects, isGlobal } = edited;
  if (features.length + segments.length + projects.length > 0 || isGlobal)
    await query(incrementUncheckedEditsSql, [features, segments, projects, isGlobal]);
}

const removeOfDeletedProjectsSql = `
  delete from change_request request using unnest($1::text[], $2::timestamptz[]) as deleted (project, at)
  where request.project = deleted.project and request.created_at < deleted.at`;

/** Removes the requests of deleted projects, so that a new project with such an id does not get them; those of the new one stay. */
export async function removeRequestsOfDeletedProjects(
  { query }: Tx,
  deleted: readonly DeletedProject[],
): Promise<void> {
  if (deleted.length > 0)
    await query(removeOfDeletedProjectsSql, [deleted.map(({ id }) => id), deleted.map(({ at }) => at)]);
}

/** Removes the deleted users: after a restored backup of the gateway their ids may be assigned to other users. Their events are replayed. */
export async function clearDeletedUsers({ em }: Tx): Promise<void> {
  await em.nativeDelete(DeletedUserEntity, {});
}

/** Stores deleted users, and removes their names from their proposals. */
export async function addDeletedUsersAndEraseNames({ em }: Tx, userIds: readonly number[]): Promise<void> {
  await em.upsertMany(
    DeletedUserEntity,
    userIds.map((userId) => ({ userId })),
    { onConflictAction: 'ignore' },
  );
  const theirs = { createdBy: { id: { $in: [...userIds] } } };
  await em.nativeUpdate(ChangeRequestEntity, theirs, { createdBy: { name: null, username: null } });
  await em.nativeUpdate(ChangeEntity, theirs, { createdBy: { name: null, username: null } });
}
