import type { Tx } from '@bunting/database';
import type { EditedObjects } from '../schedules/consumed-events.ts';
import { ScheduleEntity } from '../unit-of-work/entities.ts';
import { hasParentSql, hasReferenceSql, segmentsOfStrategySql } from './request-conditions-sql.ts';

const lockDueRequestSql = `
  select extract(epoch from clock_timestamp() - schedule.scheduled_at)::float8 * 1000 as "delayMs"
  from change_request request join schedule on schedule.change_request_id = request.id
  where request.id = $1 and request.applying is null and schedule.status = 'pending'
    and schedule.scheduled_at <= clock_timestamp()
  for update of request skip locked`;

/** Schedules within a unit of work. */
export const scheduleRepository = (tx: Tx) => ({
  /** Locks a request whose scheduled time has come, unless another replica holds it, and returns its delay in milliseconds. */
  lockDueRequest: async (id: number): Promise<number | undefined> =>
    (await tx.query<{ delayMs: number }>(lockDueRequestSql, [id]))[0]?.delayMs,
  /** Marks a schedule as checked for conflicts, unless there were more than `checked` edits in the meantime. */
  markChecked: async (id: number, checked: number): Promise<void> => {
    await tx.em.nativeUpdate(ScheduleEntity, { request: id, uncheckedEdits: checked }, { uncheckedEdits: 0 });
  },
});

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
export const markSchedulesForConflictCheck = async ({ query }: Tx, edited: EditedObjects): Promise<void> => {
  const { features, segments, projects, isGlobal } = edited;
  if (features.length + segments.length + projects.length > 0 || isGlobal)
    await query(incrementUncheckedEditsSql, [features, segments, projects, isGlobal]);
};
