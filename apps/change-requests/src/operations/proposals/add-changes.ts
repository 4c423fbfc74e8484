import { call, implement, onBehalfOf } from '@bunting/bus';
import { AddChanges, CheckChanges, type CheckedChange, unavailable } from '@bunting/contracts';
import { parseChanges } from '@bunting/contracts/validation';
import { setTimeout as sleep } from 'node:timers/promises';
import { addChanges } from '../../domain/content/add-changes.ts';
import { earlierChangesForCheck } from '../../domain/content/earlier-changes-for-check.ts';
import type { Actor, ChangeRequest, EnvironmentRef, ProposedChange } from '../../domain/change-request.ts';
import { changedBySomeoneElse } from '../../domain/refusals.ts';
import { approvalsFor } from '../../domain/required-approvals.ts';
import { createDraft, isPending } from '../../domain/content/edit-content.ts';
import { requireMayPropose } from '../../domain/review/may-propose.ts';
import { requireMergeable } from '../../domain/content/merge.ts';
import { refusePrototypeKeys } from '../../domain/content/prototype-keys.ts';
import { toChangeRequestResponse } from '../../domain/change-request-response.ts';
import { AnotherDraft } from '../../persistence/change-request-repository.ts';
import type { Transaction } from '../../persistence/unit-of-work.ts';
import { actorOf } from '../actor.ts';
import { changeBody } from '../change-body.ts';
import { withPathsOfSingleChange } from '../with-paths-of-single-change.ts';
import { previewsOfOpen } from '../previews.ts';
import type { ChangeRequestsContext } from '../context.ts';
import { keyedMutex } from '../keyed-mutex.ts';

/** The maximum number of attempts while the request is edited concurrently by way of another replica. */
const maxTries = 20;

interface Addition {
  readonly environmentRef: EnvironmentRef;
  /** whether to add to a draft only, and never to a request in review */
  readonly onlyToDraft: boolean;
  /** the request that the changes were checked against; undefined if there was none */
  readonly base: ChangeRequest | undefined;
  readonly checked: readonly CheckedChange[];
  readonly changeIds: readonly number[];
  readonly actor: Actor;
  /** whether the write has a precondition (`If-Match`), which needs the locked request */
  readonly isConditional: boolean;
  readonly allowsUnprotectedProposals: boolean;
}

/** Adds the checked changes. Returns undefined and writes nothing if the request was edited since the check. */
const addUnlessOutdated = async (
  { requests, protections, events }: Transaction,
  { environmentRef, onlyToDraft, base, checked, changeIds, actor, isConditional, allowsUnprotectedProposals }: Addition,
): Promise<ChangeRequest | undefined> => {
  if (base === undefined) {
    if (await requests.hasAcceptingRequest(actor.by.id, environmentRef, onlyToDraft)) return undefined;
    const minApprovals = approvalsFor(await protections.requiredApprovals(environmentRef), allowsUnprotectedProposals);
    const origin = { ...(await requests.newIdentity()), ...environmentRef, minApprovals };
    const draft = createDraft(origin, actor);
    const decision = addChanges(draft.request, checked, changeIds, actor);
    await requests.add(decision.request);
    events.emit([...draft.events, ...decision.events]);
    return decision.request;
  }
  if (base.state === 'Draft' && !isConditional) {
    const decision = addChanges(base, checked, changeIds, actor);
    if (decision.request !== base && !(await requests.saveDraft(base, decision.request))) return undefined;
    events.emit(decision.events);
    return decision.request;
  }
  const before = await requests.getForUpdate(base.id);
  if (before === undefined || !isPending(before) || before.revision !== base.revision) return undefined;
  if (before.applying !== null) return undefined;
  if (onlyToDraft && before.state !== 'Draft') return undefined;
  const decision = addChanges(before, checked, changeIds, actor);
  if (decision.request !== before) await requests.save(before, decision.request);
  events.emit(decision.events);
  return decision.request;
};

/**
 * Adds changes to the caller's pending request for the project and environment, or creates a draft. The features service checks the changes
 * before any lock is taken. If the revision has changed since then, or a draft now exists, everything is retried with the current
 * request. The preview in the reply is computed while the transaction runs.
 */
export const addChangesEndpoint = ({ bus, reader, transaction, allowsUnprotectedProposals }: ChangeRequestsContext) => {
  const withMutex = keyedMutex();
  return implement(AddChanges, async (operationRequest) => {
    const { params, query, body, caller, deadline } = operationRequest;
    requireMayPropose(caller, params.projectId);
    refusePrototypeKeys(body, '/body');
    const changes = parseChanges(body);
    const pathOf = (nth: number): string => (Array.isArray(body) ? `/body/${nth}` : '/body');
    const environmentRef = { project: params.projectId, environment: params.environment };
    const onlyToDraft = query.new === true;
    const actor = actorOf(operationRequest);

    const check = async (earlier: readonly ProposedChange[]): Promise<readonly CheckedChange[]> => {
      requireMergeable(earlier, changes, pathOf);
      const checkRequest = {
        body: { ...environmentRef, changes, earlier: earlierChangesForCheck(changes, earlier).map(changeBody) },
      };
      const reply = await call(bus, CheckChanges, checkRequest, onBehalfOf(operationRequest)).catch(
        (error: unknown) => {
          throw Array.isArray(body) ? error : withPathsOfSingleChange(error);
        },
      );
      return reply.changes;
    };

    const tryOnce = async () => {
      const base = await reader.acceptingRequest(caller.id, environmentRef, onlyToDraft);
      const [checked, changeIds] = await Promise.all([check(base?.changes ?? []), reader.newChangeIds(changes.length)]);
      if (Date.now() >= deadline.getTime()) throw unavailable('There was no time left to add the changes.');
      const before = base ?? createDraft({ id: 0, uid: null, ...environmentRef, minApprovals: 1 }, actor).request;
      const expected = addChanges(before, checked, changeIds, actor).request;
      const previewedChanges = previewsOfOpen(
        { bus, reader },
        environmentRef.project,
        [expected],
        onBehalfOf(operationRequest),
      );
      // Without a commit the preview is never awaited: its rejection must not be reported as unhandled.
      previewedChanges.catch(() => undefined);
      const isConditional = operationRequest.requireMatch !== undefined;
      const addition = {
        environmentRef,
        onlyToDraft,
        base,
        checked,
        changeIds,
        actor,
        isConditional,
        allowsUnprotectedProposals,
      };
      const replyOf = async (request: ChangeRequest) =>
        toChangeRequestResponse(request, (await previewedChanges)(expected));
      return transaction
        .commitThenReply(operationRequest, (tx) => addUnlessOutdated(tx, addition), replyOf)
        .catch((error: unknown) => {
          if (error instanceof AnotherDraft) return undefined;
          throw error;
        });
    };

    /** The reply to a retry of a write that was committed before. */
    const replayed = async (request: ChangeRequest) => {
      const previewedChangesOf = await previewsOfOpen(
        { bus, reader },
        environmentRef.project,
        [request],
        onBehalfOf(operationRequest),
      );
      return toChangeRequestResponse(request, previewedChangesOf(request));
    };

    return withMutex(JSON.stringify([caller.id, environmentRef]), async () => {
      for (let tries = 0; tries < maxTries; tries++) {
        const before = await transaction.replay(operationRequest, replayed);
        if (before !== undefined) return before;
        const response = await tryOnce();
        if (response !== undefined) return response;
        // Jitter, so that two conflicting attempts do not collide again.
        await sleep(Math.random() * 10);
      }
      throw changedBySomeoneElse();
    });
  });
};
