import type { Bus, CallContext } from '@bunting/bus';
import { GetPermissionsOfUsers } from '@bunting/contracts';
import { call } from '../calls.ts';
import type { ChangeRequest } from '../domain/change-request.ts';
import { beginScheduledRun, type Scheduler } from '../domain/transitions/scheduled-run.ts';
import type { UnitOfWork } from '../persistence/unit-of-work.ts';
import type { Apply } from '../operations/state/apply-request.ts';
import { loadSegmentConflicts } from '../operations/state/load-segment-conflicts.ts';

/** A request whose scheduled time has come, with the user who scheduled it. */
interface ScheduledByUser {
  readonly id: number;
  readonly userId: number;
}

interface ClaimOptions {
  readonly bus: Bus;
  readonly transaction: UnitOfWork;
  /** records the delay in milliseconds of each scheduled request that begins to be applied */
  readonly onScheduledBegin: (delayMs: number) => void;
}

/** Loads the current permissions of the user who scheduled. */
const findScheduler = async (bus: Bus, id: number, context: CallContext): Promise<Scheduler> => {
  if (id <= 0) return { kind: 'admin token' };
  const { users } = await call(bus, GetPermissionsOfUsers, { body: { ids: [id] } }, context);
  const found = users.find(({ user }) => user.id === id);
  return found === undefined ? { kind: 'deleted user' } : { kind: 'user', caller: found.caller };
};

/** Marks a request whose scheduled time has come as being applied, and returns it; undefined if its run does not begin. */
const claimScheduledRequest =
  ({ bus, transaction, onScheduledBegin }: ClaimOptions) =>
  async ({ id, userId }: ScheduledByUser, context: CallContext): Promise<ChangeRequest | undefined> => {
    const scheduler = await findScheduler(bus, userId, context);
    return transaction(context, async ({ requests, schedules }) => {
      const delayMs = await schedules.lockDueRequest(id);
      const request = delayMs === undefined ? undefined : await requests.getOfAnyProjectForUpdate(id);
      // Another user may have rescheduled it in the meantime: the next run checks that user's permissions.
      if (delayMs === undefined || request?.schedule?.by.id !== userId) return undefined;
      const conflicts = await loadSegmentConflicts(requests, request);
      const run = beginScheduledRun(request, { scheduler, delayMs, conflicts, now: requests.now() });
      await requests.save(run);
      if (!run.isBegun) return undefined;
      onScheduledBegin(delayMs);
      return run.request;
    });
  };

/** Claims a request whose scheduled time has come, and applies it. */
export const runScheduledRequest = ({ apply, ...options }: ClaimOptions & { readonly apply: Apply }) => {
  const claim = claimScheduledRequest(options);
  return async (scheduled: ScheduledByUser, context: CallContext): Promise<void> => {
    const begun = await claim(scheduled, context);
    if (begun !== undefined) await apply(begun, context);
  };
};
