import type { Bus, CallContext } from '@bunting/bus';
import { type AppliedChanges, ApplyChanges, isFinalRefusal } from '@bunting/contracts';
import { call } from '../../calls.ts';
import type { ChangeRequest } from '../../requests/change-request.ts';
import { etagHeaderOf } from '../../domain/entity-tag.ts';
import { finishApplyAttempt, requireApplyAttempt } from '../../states/apply-attempt.ts';
import type { ChangeRequestReader } from '../../persistence/change-request-reader.ts';
import type { UnitOfWork } from '../../unit-of-work/unit-of-work.ts';
import type { RecheckApprovals } from '../../reviews/endpoints.ts';
import { toWireChangeWithSnapshot } from '../previews/wire-change.ts';

/**
 * Applies a request after `beginApplyAttempt`, and stores the outcome. Any replica may repeat it at any time: the features service applies a
 * request once, and returns one result per attempt. A call that is refused ends the attempt. After an outage or a defect the request stays in
 * progress until a replica repeats the call.
 */
export type Apply = (begun: ChangeRequest, context: CallContext) => Promise<ApplyResult>;

interface ApplyResult extends AppliedChanges {
  /** the entity tag of the request afterwards; undefined when another process has stored the outcome */
  readonly tag: string | undefined;
}

interface ApplyOptions {
  readonly bus: Bus;
  readonly reader: ChangeRequestReader;
  readonly transaction: UnitOfWork;
  readonly recheckApprovals: RecheckApprovals;
}

export const applyRequest =
  ({ bus, reader, transaction, recheckApprovals }: ApplyOptions): Apply =>
  async (begun, context) => {
    const { id, uid, project, environment, changes, attempts, schedule } = begun;
    const { by, displayName, scheduled, authorisedEnvironments } = requireApplyAttempt(begun);
    const caller = { id: by.id, name: by.name, ...(displayName === undefined ? {} : { displayName }), grants: [] };
    const body = {
      changeRequestId: id,
      ...(uid === null ? {} : { uid }),
      attempt: attempts,
      project,
      environment,
      ...(authorisedEnvironments === undefined ? {} : { authorisedEnvironments: [...authorisedEnvironments] }),
      changes: changes.map((change) => toWireChangeWithSnapshot(change, schedule?.snapshots)),
      refuseOverwrites: scheduled,
    };
    const result = await call(bus, ApplyChanges, { body }, { ...context, caller }).catch(
      (error: unknown): AppliedChanges => {
        if (!isFinalRefusal(error)) throw error;
        return { outcome: 'conflict', conflicts: [{ code: 'refused', message: error.message }], inverse: [] };
      },
    );
    // Without the limits of the caller: the features service has applied the changes, or refused them.
    const storedTag = await transaction({ traceparent: context.traceparent }, async ({ requests, storeReply }) => {
      const request = await requests.getOfAnyProjectForUpdate(id);
      // Another process has finished the attempt in the meantime.
      if (request === undefined || request.applying === null || request.attempts !== attempts) return undefined;
      const decision = finishApplyAttempt(request, result, requests.now());
      await requests.save(decision);
      const tag = etagHeaderOf(decision.request);
      if (result.outcome === 'applied') {
        await requests.saveInverse(id, result.inverse);
        const { pendingReply } = request.applying;
        if (pendingReply !== undefined) await storeReply(pendingReply, { ETag: tag });
      }
      return tag;
    });
    // An environment was protected, or connected, after the attempt began.
    if (result.conflicts.some(({ code }) => code === 'approvals-missing')) {
      const request = await reader.byId(id);
      if (request !== undefined) await recheckApprovals(project, [request], context);
    }
    return { ...result, tag: storedTag };
  };
