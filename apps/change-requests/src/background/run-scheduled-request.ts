import type { Bus, CallContext } from '@bunting/bus';
import { GetPermissionsOfUsers, Refusal } from '@bunting/contracts';
import { call } from '../calls.ts';
import type { ChangeRequest } from '../requests/change-request.ts';
import { beginScheduledRun, type Scheduler } from '../schedules/scheduled-run.ts';
import type { ReviewFacts } from '../domain/review/judge-request.ts';
import type { RolesOf } from '../reviews/request-roles.ts';
import { loadReviewFacts } from '../operations/reviews/load-review-facts.ts';
import { judgeLocked, takeBackLocked } from '../reviews/endpoints.ts';
import type { ChangeRequestReader } from '../persistence/change-request-reader.ts';
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts';
import type { Apply } from '../operations/state/apply-request.ts';
import { loadSegmentConflicts } from '../operations/state/load-segment-conflicts.ts';

/** A request whose scheduled time has come, with the user who scheduled it. */
interface ScheduledByUser {
  readonly id: number;
  readonly userId: number;
}

interface ClaimOptions {
  readonly bus: Bus;
  readonly reader: ChangeRequestReader;
  readonly transaction: UnitOfWork;
  readonly rolesOf: RolesOf;
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

/** The facts about a request, unless its project is archived or was deleted: then it runs into that conflict. */
const loadFactsOf = (bus: Bus, request: ChangeRequest, context: CallContext): Promise<ReviewFacts> =>
  loadReviewFacts(bus, request.project, [request], context).catch((error: unknown) => {
    if (!(error instanceof Refusal) || error.kind !== 'NotFoundError') throw error;
    return { connected: new Set(), approvers: new Map() };
  });

/** Marks a request whose scheduled time has come as being applied, and returns it; undefined if its run does not begin. */
const claimScheduledRequest =
  ({ bus, reader, transaction, rolesOf, onScheduledBegin }: ClaimOptions) =>
  async ({ id, userId }: ScheduledByUser, context: CallContext): Promise<ChangeRequest | undefined> => {
    const scheduled = await reader.byId(id);
    if (scheduled === undefined) return undefined;
    const scheduler = await findScheduler(bus, userId, context);
    const facts = await loadFactsOf(bus, scheduled, context);
    return transaction(context, async (tx) => {
      const { requests, schedules } = tx;
      const delayMs = await schedules.lockDueRequest(id);
      const before = delayMs === undefined ? undefined : await requests.getOfAnyProjectForUpdate(id);
      // Another user may have rescheduled it in the meantime: the next run checks that user's permissions.
      if (delayMs === undefined || before?.schedule?.by.id !== userId) return undefined;
      const requirement = await judgeLocked(tx, before, facts, rolesOf);
      const request = await takeBackLocked(tx, before, requirement);
      if (request.schedule === null) return undefined;
      const conflicts = await loadSegmentConflicts(requests, request);
      const run = beginScheduledRun(request, { scheduler, delayMs, conflicts, requirement, now: requests.now() });
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
