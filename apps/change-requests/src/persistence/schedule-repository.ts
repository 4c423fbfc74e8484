import type { Tx } from '@bunting/database';
import type { EditedObjects } from '../domain/objects-in-consumed-events.ts';
import { ScheduleEntity } from './entities.ts';

const claimDue = `
  select extract(epoch from clock_timestamp() - schedule.scheduled_at)::float8 * 1000 as "delayMs"
  from change_request request join schedule on schedule.change_request_id = request.id
  where request.id = $1 and request.applying is null and schedule.status = 'pending'
    and schedule.scheduled_at <= clock_timestamp()
  for update of request skip locked`;

/** Schedules within a unit of work. */
export const scheduleRepository = (tx: Tx) => ({
  /** Locks a request whose scheduled time has come, unless another replica holds it, and returns its delay in milliseconds. */
  lockDueRequest: async (id: number): Promise<number | undefined> =>
    (await tx.query<{ delayMs: number }>(claimDue, [id]))[0]?.delayMs,
  /** Marks a schedule as checked for conflicts, unless there were more than `checked` edits in the meantime. */
  markChecked: async (id: number, checked: number): Promise<void> => {
    await tx.em.nativeUpdate(ScheduleEntity, { request: id, uncheckedEdits: checked }, { uncheckedEdits: 0 });
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

/** Marks the scheduled requests that must be checked for conflicts because an object that they affect was edited. */
export const markSchedulesForConflictCheck = async ({ query }: Tx, edited: EditedObjects): Promise<void> => {
  if (edited.features.length + edited.segments.length > 0)
    await query(countEditsOfObjects, [edited.features, edited.segments]);
  if (edited.projects.length > 0) await query(countEditsOfProjects, [edited.projects]);
};
