import { type Bus, call, type CallContext } from '@bunting/bus';
import { type Caller, GetPermissionsOfUsers, may, Refusal, refusal } from '@bunting/contracts';
import type { ChangeRequest } from '../../domain/change-request.ts';
import { abandonApplying, beginApplying, suspend, systemRoles } from '../../domain/review/execute-command.ts';
import type { UnitOfWork } from '../../persistence/unit-of-work.ts';
import { failureReason } from '../apply-request.ts';
import { segmentConflictsOf } from '../segment-conflicts.ts';

interface Options {
  readonly bus: Bus;
  readonly transaction: UnitOfWork;
  /** records the delay in milliseconds of each scheduled request that begins to be applied */
  readonly onScheduledBegin: (delayMs: number) => void;
}

/** A scheduled run that is later than this fails: a release planned for the night must not happen at noon. */
const maxDelayMs = 15 * 60_000;

/** Who scheduled a request. An admin token belongs to no user who could be deleted. */
type Scheduler =
  | { readonly kind: 'admin token' }
  | { readonly kind: 'user'; readonly caller: Caller }
  | { readonly kind: 'deleted user' };

/** Loads the current permissions of the user who scheduled. */
const findScheduler = async (bus: Bus, id: number, context: CallContext): Promise<Scheduler> => {
  if (id <= 0) return { kind: 'admin token' };
  const { users } = await call(bus, GetPermissionsOfUsers, { body: { ids: [id] } }, context);
  const found = users.find(({ user }) => user.id === id);
  return found === undefined ? { kind: 'deleted user' } : { kind: 'user', caller: found.caller };
};

/** The reason not to run a due request; undefined if it may run. @param caller the user who scheduled it; undefined for an admin token */
const reasonNotTo = (request: ChangeRequest, caller: Caller | undefined, delayMs: number): string | undefined => {
  if (delayMs > maxDelayMs) return 'it could not begin within 15 minutes of the scheduled time';
  const { project, environment } = request;
  if (caller === undefined || may(caller, ['APPLY_CHANGE_REQUEST'], { project, environment })) return undefined;
  return `the user who scheduled it (user id: ${caller.id}) no longer has the permission to apply it`;
};

/**
 * Marks a request whose scheduled time has come as being applied, and returns it; undefined if it must not be applied. It
 * checks the permissions of the user who scheduled the request, because they may have changed since then. The schedule of a deleted user is
 * suspended, and a run that is too late fails.
 */
export const claimScheduledRequest =
  ({ bus, transaction, onScheduledBegin }: Options) =>
  async (
    { id, userId }: { readonly id: number; readonly userId: number },
    context: CallContext,
  ): Promise<ChangeRequest | undefined> => {
    const scheduler = await findScheduler(bus, userId, context);
    return transaction(context.traceparent, async ({ requests, schedules, outbox }) => {
      const delayMs = await schedules.lockDueRequest(id);
      const request = delayMs === undefined ? undefined : await requests.getForUpdate(id);
      // Another user may have rescheduled it in the meantime: the next run checks that user's permissions.
      if (delayMs === undefined || request?.schedule?.by.id !== userId) return undefined;
      const now = await requests.now();
      const { by } = request.schedule;
      try {
        if (scheduler.kind === 'deleted user') {
          throw refusal(
            'ConflictError',
            `The user who scheduled this change request (user id: ${userId}) has been deleted or disabled`,
          );
        }
        const caller = scheduler.kind === 'user' ? scheduler.caller : undefined;
        const begun = beginApplying(
          request,
          'run',
          { by, now, roles: systemRoles },
          { displayName: caller?.displayName },
        );
        const conflicts = await segmentConflictsOf(requests, request);
        const reason =
          reasonNotTo(request, caller, delayMs) ?? (conflicts.length > 0 ? failureReason(conflicts) : undefined);
        if (reason === undefined) {
          await requests.save(request, begun);
          onScheduledBegin(delayMs);
          return begun;
        }
        const { request: after, events } = abandonApplying(begun, now, { command: 'fail', reason });
        if (after !== null) await requests.save(request, after);
        outbox.emit(events);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        const { request: after, events } = suspend(request, error.message, { by, now });
        if (after !== null) await requests.save(request, after);
        outbox.emit(events);
      }
      return undefined;
    });
  };
