import { type Bus, call, implement, onBehalfOf, type OperationRequest } from '@bunting/bus';
import {
  AddChanges,
  type Change,
  CheckChanges,
  type CheckedChange,
  requireMayPropose,
  unavailable,
} from '@bunting/contracts';
import { parseChanges } from '@bunting/contracts/validation';
import { setTimeout as sleep } from 'node:timers/promises';
import { addChanges } from '../../domain/content/add-changes.ts';
import { earlierChangesForCheck } from '../../domain/content/earlier-changes-for-check.ts';
import type { Actor, ChangeRequest, Decision, EnvironmentRef, ProposedChange } from '../../domain/change-request.ts';
import { changedBySomeoneElse } from '../../domain/refusals.ts';
import { approvalsForNewRequest } from '../../domain/environment-protection.ts';
import { acceptsChanges, createDraft } from '../../domain/content/edit-content.ts';
import { requireMergeable } from '../../domain/content/merge.ts';
import { refusePrototypeKeys } from '../../domain/content/prototype-keys.ts';
import { toChangeRequestResponse } from '../../domain/change-request-response.ts';
import { DraftAlreadyExistsError } from '../../persistence/change-request-repository.ts';
import type { Transaction } from '../../persistence/unit-of-work.ts';
import { actorOf } from '../actor.ts';
import type { ChangeRequestsContext } from '../context.ts';
import { changeBody } from '../previews/change-body.ts';
import { previewsOfOpen } from '../previews/previews.ts';
import { responseWithPreview } from '../previews/responses.ts';
import { keyedMutex } from './keyed-mutex.ts';
import { withPathsOfSingleChange } from './with-paths-of-single-change.ts';

/** The maximum number of attempts while the request is edited concurrently by way of another replica. */
const maxTries = 20;

type AddChangesRequest = OperationRequest<typeof AddChanges>;

interface Proposal {
  readonly operationRequest: AddChangesRequest;
  readonly actor: Actor;
  readonly environmentRef: EnvironmentRef;
  readonly changes: readonly Change[];
  /** whether to add to a draft only, and never to a request in review */
  readonly onlyToDraft: boolean;
}

const parseProposal = (operationRequest: AddChangesRequest): Proposal => {
  const { params, query, body, caller } = operationRequest;
  requireMayPropose(caller, params.projectId);
  refusePrototypeKeys(body, '/body');
  return {
    operationRequest,
    actor: actorOf(operationRequest),
    environmentRef: { project: params.projectId, environment: params.environment },
    changes: parseChanges(body),
    onlyToDraft: query.new === true,
  };
};

/** Lets the features service check the changes on top of the earlier ones that can affect them. */
const checkChanges = async (
  bus: Bus,
  { operationRequest, environmentRef, changes }: Proposal,
  earlier: readonly ProposedChange[],
): Promise<readonly CheckedChange[]> => {
  const isList = Array.isArray(operationRequest.body);
  requireMergeable(earlier, changes, (nth) => (isList ? `/body/${nth}` : '/body'));
  const body = {
    ...environmentRef,
    changes: [...changes],
    earlier: earlierChangesForCheck(changes, earlier).map(changeBody),
  };
  const checked = await call(bus, CheckChanges, { body }, onBehalfOf(operationRequest)).catch((error: unknown) => {
    throw isList ? error : withPathsOfSingleChange(error);
  });
  return checked.changes;
};

/** Adds the checked changes to a request. */
type Add = (request: ChangeRequest) => Decision;

const addToNewDraft = async (
  { requests, protections }: Transaction,
  { environmentRef, actor, onlyToDraft }: Proposal,
  add: Add,
  allowsVoluntaryRequests: boolean,
): Promise<ChangeRequest | undefined> => {
  if (await requests.hasAcceptingRequest(actor.by.id, environmentRef, onlyToDraft)) return undefined;
  const minApprovals = approvalsForNewRequest(
    await protections.requiredApprovals(environmentRef),
    allowsVoluntaryRequests,
  );
  const draft = createDraft({ ...(await requests.newIdentity()), ...environmentRef, minApprovals }, actor);
  const decision = add(draft.request);
  await requests.add({ request: decision.request, events: [...draft.events, ...decision.events] });
  return decision.request;
};

/** Adds to a draft by one statement, without locking it first. */
const addToDraft = async (
  { requests }: Transaction,
  draft: ChangeRequest,
  add: Add,
): Promise<ChangeRequest | undefined> => {
  const decision = add(draft);
  if (decision.request !== draft && !(await requests.saveDraft(draft, decision))) return undefined;
  return decision.request;
};

const addToLockedRequest = async (
  { requests }: Transaction,
  { onlyToDraft }: Proposal,
  base: ChangeRequest,
  add: Add,
): Promise<ChangeRequest | undefined> => {
  const before = await requests.getForUpdate(base.id);
  if (before?.revision !== base.revision || !acceptsChanges(before, { onlyToDraft })) return undefined;
  const decision = add(before);
  if (decision.request !== before) await requests.save(decision);
  return decision.request;
};

/**
 * Adds the changes to the caller's pending request for the project and environment, or to a new draft. The preview in the reply is computed
 * while the transaction runs. Returns undefined and writes nothing if the request was edited since the check, or if a draft now exists.
 */
const addUnlessOutdated = async (
  { bus, reader, newChangeIds, transaction, allowsVoluntaryRequests }: ChangeRequestsContext,
  proposal: Proposal,
) => {
  const { operationRequest, actor, environmentRef, changes, onlyToDraft } = proposal;
  const base = await reader.acceptingRequest(actor.by.id, environmentRef, onlyToDraft);
  const [checked, changeIds] = await Promise.all([
    checkChanges(bus, proposal, base?.changes ?? []),
    newChangeIds(changes.length),
  ]);
  if (Date.now() >= operationRequest.deadline.getTime())
    throw unavailable('There was no time left to add the changes.');
  const add: Add = (request) => addChanges(request, checked, changeIds, actor);
  const before = base ?? createDraft({ id: 0, uid: null, ...environmentRef, minApprovals: 1 }, actor).request;
  const expected = add(before).request;
  const context = onBehalfOf(operationRequest);
  const previewedChanges = previewsOfOpen({ bus, reader }, environmentRef.project, [expected], context);
  // Without a commit the preview is never awaited: its rejection must not be reported as unhandled.
  previewedChanges.catch(() => undefined);
  return transaction
    .commitThenReply(
      operationRequest,
      (tx) => {
        if (base === undefined) return addToNewDraft(tx, proposal, add, allowsVoluntaryRequests);
        if (base.state === 'Draft') return addToDraft(tx, base, add);
        return addToLockedRequest(tx, proposal, base, add);
      },
      async (request: ChangeRequest) => toChangeRequestResponse(request, (await previewedChanges)(expected)),
    )
    .catch((error: unknown) => {
      if (error instanceof DraftAlreadyExistsError) return undefined;
      throw error;
    });
};

/** Adds changes to the caller's pending request. The features service checks them first, without holding a lock; a concurrent edit causes a retry. */
export const addChangesEndpoint = (dependencies: ChangeRequestsContext) => {
  const withMutex = keyedMutex();
  return implement(AddChanges, async (operationRequest) => {
    const proposal = parseProposal(operationRequest);
    const replayedResponse = (request: ChangeRequest) =>
      responseWithPreview(dependencies, request, onBehalfOf(operationRequest));
    return withMutex(JSON.stringify([proposal.actor.by.id, proposal.environmentRef]), async () => {
      for (let tries = 0; tries < maxTries; tries++) {
        const replayed = await dependencies.transaction.replay(operationRequest, replayedResponse);
        if (replayed !== undefined) return replayed;
        const response = await addUnlessOutdated(dependencies, proposal);
        if (response !== undefined) return response;
        // Jitter, so that two conflicting attempts do not collide again.
        await sleep(Math.random() * 10);
      }
      throw changedBySomeoneElse();
    });
  });
};
