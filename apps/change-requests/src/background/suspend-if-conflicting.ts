import type { Bus, CallContext } from '@bunting/bus';
import { isFinalRefusal, projectGone, systemCaller } from '@bunting/contracts';
import { suspendSchedule } from '../states/commands.ts';
import { suspensionReason } from '../domain/transitions/suspension-reason.ts';
import type { ChangeRequestReader } from '../persistence/change-request-reader.ts';
import type { UncheckedSchedule } from '../schedules/schedule-store.ts';
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts';
import { actorOf } from '../operations/actor.ts';
import { loadPreview } from '../previews/endpoints.ts';

interface Options {
  readonly bus: Bus;
  readonly reader: ChangeRequestReader;
  readonly transaction: UnitOfWork;
}

/** Suspends a scheduled request if it conflicts with edits that were made after it was scheduled. */
export const suspendIfConflicting =
  ({ bus, reader, transaction }: Options) =>
  async ({ id, uncheckedEdits }: UncheckedSchedule, context: CallContext): Promise<void> => {
    const request = await reader.byId(id);
    if (request === undefined || request.schedule === null) return;
    const reason = await loadPreview({ bus, reader }, request, { withStates: false }, context).then(
      ({ preview }) => suspensionReason(request, preview),
      (error: unknown) => {
        if (!isFinalRefusal(error)) throw error;
        return error.kind === 'NotFoundError' ? projectGone.message : error.message;
      },
    );
    await transaction(context, async ({ requests, schedules }) => {
      const before = await requests.getOfAnyProjectForUpdate(id);
      // The request was rescheduled in the meantime: the next run checks it again.
      if (before?.schedule?.scheduledAt !== request.schedule?.scheduledAt) return;
      await schedules.markChecked(id, uncheckedEdits);
      if (before === undefined || reason === undefined) return;
      await requests.save(suspendSchedule(before, reason, actorOf(systemCaller, requests.now())));
    });
  };
