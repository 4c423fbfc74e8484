import { implement, onBehalfOf, type OperationRequest } from '@bunting/bus';
import { AddChanges, type Change, type CheckedChange, unavailable } from '@bunting/contracts';
import { parseChanges } from '@bunting/contracts/validation';
import { addChanges } from '../domain/content/add-changes.ts';
import type { ChangeRequest, ChangeRequestDecision, EnvironmentRef } from '../requests/change-request.ts';
import { approvalsForNewRequest } from '../protection/environment-protection.ts';
import { acceptsChanges } from '../domain/content/pending-states.ts';
import { createDraft, unsavedDraft } from '../domain/content/create-draft.ts';
import { requireMergeable } from './merge-change.ts';
import { refusePrototypeKeys } from '../domain/content/refuse-prototype-keys.ts';
import { type Protection, reviewRequirement } from '../domain/review/review-requirement.ts';
import { toChangeRequestResponse } from '../requests/change-request-response.ts';
import type { ReservedIds } from '../persistence/reserve-change-ids.ts';
import { DraftAlreadyExistsError } from '../requests/request-store.ts';
import type { Transaction } from '../unit-of-work/unit-of-work.ts';
import { actorOf } from '../operations/actor.ts';
import type { ChangeRequestsContext } from '../operations/context.ts';
import { loadConnectedProtections } from '../operations/reviews/load-review-facts.ts';
import { loadPreviewsOfOpenRequests } from '../previews/endpoints.ts';
import { responseWithPreview } from '../operations/previews/responses-with-previews.ts';
import { checkProposedChanges } from '../operations/proposals/check-proposed-changes.ts';
import { keyedMutex } from '../operations/proposals/keyed-mutex.ts';
import { retryUntilCurrent } from '../operations/proposals/retry-until-current.ts';

type AddChangesRequest = OperationRequest<typeof AddChanges>;

interface Proposal {
  readonly operationRequest: AddChangesRequest;
  readonly environmentRef: EnvironmentRef;
  readonly changes: readonly Change[];
  /** whether to add to a draft only, and never to a request in review */
  readonly draftOnly: boolean;
}

const parseProposal = (operationRequest: AddChangesRequest): Proposal => {
  const { params, query, body } = operationRequest;
  refusePrototypeKeys(body, '/body');
  return {
    operationRequest,
    environmentRef: { project: params.projectId, environment: params.environment },
    changes: parseChanges(body),
    draftOnly: query.new === true,
  };
};

/** The checked changes with their ids, and the time at which they are added to a request that is not locked. */
interface CheckedProposal extends Proposal, ReservedIds {
  /** the protected environments that are connected to the project */
  readonly protections: readonly Protection[];
  readonly checked: readonly CheckedChange[];
}

const addTo = (
  request: ChangeRequest,
  { operationRequest, checked, ids, now }: CheckedProposal,
  addedAt = now,
): ChangeRequestDecision => addChanges(request, checked, ids, actorOf(operationRequest.caller, addedAt));

const addToNewDraft = async (
  { requests, protections }: Transaction,
  proposal: CheckedProposal,
  allowsVoluntaryRequests: boolean,
): Promise<ChangeRequest | undefined> => {
  const { operationRequest, environmentRef, draftOnly, now } = proposal;
  const { caller } = operationRequest;
  if (await requests.lockAndCheckForAcceptingRequest(caller.id, environmentRef, { draftOnly })) return undefined;
  const minApprovals = approvalsForNewRequest(
    await protections.requiredApprovals(environmentRef),
    allowsVoluntaryRequests,
  );
  const content = { environment: environmentRef.environment, changes: proposal.checked, minApprovals };
  const draft = createDraft(
    { ...(await requests.newIdentity()), ...environmentRef, minApprovals },
    actorOf(caller, now),
    reviewRequirement(content, proposal.protections).minApprovals,
  );
  const decision = addTo(draft.request, proposal);
  await requests.add({ request: decision.request, events: [...draft.events, ...decision.events] });
  return decision.request;
};

/** Adds to a draft by one statement, without locking it first. */
const addToDraft = async (
  { requests }: Transaction,
  proposal: CheckedProposal,
  draft: ChangeRequest,
): Promise<ChangeRequest | undefined> => {
  const decision = addTo(draft, proposal);
  if (decision.request !== draft && !(await requests.saveDraft(draft, decision))) return undefined;
  return decision.request;
};

/** Adds to a request in review or approved, which it locks first. */
const addToRequestInReview = async (
  { requests }: Transaction,
  proposal: CheckedProposal,
  base: ChangeRequest,
): Promise<ChangeRequest | undefined> => {
  const before = await requests.getOfAnyProjectForUpdate(base.id);
  if (before?.revision !== base.revision || !acceptsChanges(before, proposal)) return undefined;
  const decision = addTo(before, proposal, requests.now());
  if (decision.request !== before) await requests.save(decision);
  return decision.request;
};

/**
 * Adds the changes to the caller's pending request for the project and environment, or to a new draft. The preview in the reply is computed
 * while the transaction runs. Returns undefined and writes nothing if the request was edited since the check, or if a draft now exists.
 */
const addIfCurrent = async (
  { bus, reader, newChangeIds, transaction, allowsVoluntaryRequests }: ChangeRequestsContext,
  proposal: Proposal,
) => {
  const { operationRequest, environmentRef, changes, draftOnly } = proposal;
  const { caller } = operationRequest;
  const base = await reader.acceptingRequest(caller.id, environmentRef, { draftOnly });
  const earlier = base?.changes ?? [];
  const isList = Array.isArray(operationRequest.body);
  requireMergeable(earlier, changes, (nth) => (isList ? `/body/${nth}` : '/body'));
  const [checked, reserved, connectedProtections] = await Promise.all([
    checkProposedChanges(bus, environmentRef, { changes, earlier, isList }, onBehalfOf(operationRequest)),
    newChangeIds(changes.length),
    loadConnectedProtections({ bus, reader }, environmentRef.project, onBehalfOf(operationRequest)),
  ]);
  if (Date.now() >= operationRequest.deadline.getTime())
    throw unavailable('There was no time left to add the changes.');
  const checkedProposal = { ...proposal, ...reserved, checked, protections: connectedProtections };
  const expected = addTo(base ?? unsavedDraft(environmentRef, actorOf(caller, reserved.now)), checkedProposal).request;
  const previewedChanges = loadPreviewsOfOpenRequests(
    { bus, reader },
    environmentRef.project,
    [expected],
    onBehalfOf(operationRequest),
  );
  // Without a commit the preview is never awaited: its rejection must not be reported as unhandled.
  previewedChanges.catch(() => undefined);
  return transaction
    .commitThenReply(
      operationRequest,
      (tx) => {
        if (base === undefined) return addToNewDraft(tx, checkedProposal, allowsVoluntaryRequests);
        if (base.state === 'Draft') return addToDraft(tx, checkedProposal, base);
        return addToRequestInReview(tx, checkedProposal, base);
      },
      async (request: ChangeRequest) =>
        toChangeRequestResponse(
          request,
          (await previewedChanges)(expected),
          reviewRequirement(request, connectedProtections),
        ),
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
    const { transaction } = dependencies;
    const key = JSON.stringify([operationRequest.caller.id, proposal.environmentRef]);
    return withMutex(key, () =>
      retryUntilCurrent(
        async () =>
          (await transaction.replay(operationRequest, replayedResponse)) ??
          (await addIfCurrent(dependencies, proposal)),
      ),
    );
  });
};
