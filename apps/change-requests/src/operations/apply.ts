import { type Bus, call, type CallContext, JsonText } from '@bunting/bus';
import { type AppliedChanges, ApplyChanges } from '@bunting/contracts';
import type { ChangeRequest } from '../domain/change-request.ts';
import { entityTagOf } from '../domain/entity-tag.ts';
import { abandonApplying, endApplying, type Move } from '../domain/move.ts';
import type { UnitOfWork } from '../persistence/unit-of-work.ts';
import { requested } from './outlooks.ts';

/**
 * Carries out what `beginApplying` decided, and remembers what became of it. It can be done again at any time, by anybody:
 * the service that applies does so once per request, and gives one answer per attempt. Without an answer nothing is
 * known, and the request stays as it is until somebody does it again.
 */
export type Apply = (begun: ChangeRequest, context: CallContext) => Promise<Ended>;

interface Ended extends AppliedChanges {
  /** the entity tag of what became of the request; none where somebody else has ended it */
  readonly tag: string | undefined;
}

/** Why a scheduled run did not change anything, for people. */
export const reasonOf = (conflicts: AppliedChanges['conflicts']): string =>
  `conflicts: ${conflicts[0]?.message ?? 'unknown'} (${conflicts.length} in total)`;

const ended = (request: ChangeRequest, result: AppliedChanges, now: Date): Move => {
  switch (result.outcome) {
    case 'applied':
      return endApplying(request, now);
    case 'overwrites': {
      const reason = result.conflicts[0]?.message ?? 'Applying would overwrite newer edits';
      return abandonApplying(request, now, { command: 'suspend', reason });
    }
    default:
      return abandonApplying(request, now, { command: 'fail', reason: reasonOf(result.conflicts) });
  }
};

export const applying =
  (bus: Bus, work: UnitOfWork): Apply =>
  async (begun, context) => {
    const { id, uid, project, environment, changes, attempts, schedule } = begun;
    if (begun.applying === null) throw new Error('Nobody is applying the request.');
    const { by, scheduled } = begun.applying;
    const body = {
      changeRequestId: id,
      ...(uid === null ? {} : { uid }),
      attempt: attempts,
      project,
      environment,
      changes: changes.map((change) => requested(change, schedule?.snapshots)),
      refuseOverwrites: scheduled,
    };
    const result = await call(bus, ApplyChanges, { body }, { ...context, caller: { ...by, grants: [] } });
    const tag = await work(context.traceparent, async ({ requests, outbox, remember }) => {
      const request = await requests.getForUpdate(id);
      // Whoever took it up in the meantime has ended it as well.
      if (request === undefined || request.applying === null || request.attempts !== attempts) return undefined;
      const { request: after, events } = ended(request, result, await requests.now());
      if (after !== null) await requests.save(request, after);
      const now = entityTagOf(after ?? request);
      if (result.outcome === 'applied') {
        await requests.saveInverse(id, result.inverse);
        const { promised } = request.applying;
        if (promised !== undefined) await remember(promised.once, new JsonText(promised.reply), { ETag: now });
      }
      for (const event of events) outbox.event(event);
      return now;
    });
    return { ...result, tag };
  };
