import { type Bus, type CallContext, type Endpoint, implement, onBehalfOf, type OperationRequest } from '@bunting/bus';
import {
  AddChanges,
  type Change,
  CheckChanges,
  type CheckedChange,
  DiscardChange,
  DiscardDraft,
  EditChange,
  GetProposalTarget,
  SetTitle,
  unavailable,
} from '@bunting/contracts';
import { parseChange, parseChanges } from '@bunting/contracts/validation';
import { setTimeout as sleep } from 'node:timers/promises';
import { call } from '../calls.ts';
import type { ChangeRequestsContext } from '../endpoints.ts';
import { loadPreviewsOfOpenRequests, responseWithPreview } from '../previews/endpoints.ts';
import { approvalsForNewRequest } from '../protection/environment-protection.ts';
import { titleOf, toChangeRequestResponse } from '../requests/change-request-response.ts';
import {
  actorOf,
  changedBySomeoneElse,
  type ChangeRequest,
  type ChangeRequestDecision,
  type EnvironmentRef,
  type ProposedChange,
  setTitle,
  withoutEvents,
} from '../requests/change-request.ts';
import { readInProject, requireProject } from '../requests/endpoints.ts';
import { DraftAlreadyExistsError, type ReservedIds } from '../requests/request-store.ts';
import { type Protection, reviewRequirement } from '../reviews/approvals.ts';
import { loadConnectedProtections } from '../reviews/endpoints.ts';
import { discardDraft } from '../states/commands.ts';
import type { Transaction } from '../unit-of-work/unit-of-work.ts';
import {
  acceptsChanges,
  addChanges,
  createDraft,
  discardChange,
  editChange,
  refusePrototypeKeys,
  requireAuthor,
  requireChange,
  requireSameSubject,
  unsavedDraft,
  withPathsOfSingleChange,
} from './content.ts';
import { orderOfApplication, requireMergeable } from './merge-change.ts';
import { earlierChangesForCheck, toWireChange } from './proposed-change.ts';

export function proposalEndpoints(context: ChangeRequestsContext): readonly Endpoint[] {
  const { bus, reader, transaction, rolesOf } = context;
  const withMutex = keyedMutex();
  return [
    // The features service checks the changes first, without holding a lock; a concurrent edit causes a retry.
    implement(AddChanges, async (operationRequest) => {
      const proposal = parseProposal(operationRequest);
      const replayedResponse = (request: ChangeRequest) =>
        responseWithPreview({ bus, reader }, request, onBehalfOf(operationRequest));
      const key = JSON.stringify([operationRequest.caller.id, proposal.environmentRef]);
      return withMutex(key, () =>
        retryUntilCurrent(
          async () =>
            (await transaction.replay(operationRequest, replayedResponse)) ?? (await addIfCurrent(context, proposal)),
        ),
      );
    }),

    implement(GetProposalTarget, async (operationRequest) => {
      const { params, caller } = operationRequest;
      const environmentRef = { project: params.projectId, environment: params.environment };
      const target = await readInProject(
        bus,
        operationRequest,
        reader.acceptingRequest(caller.id, environmentRef, { draftOnly: false }),
      );
      if (target === undefined) return { changeRequest: null };
      const { id, state, approvals } = target;
      return { changeRequest: { id, title: titleOf(target), state, approvals: approvals.length } };
    }),

    implement(DiscardChange, async (operationRequest) => {
      await requireProject(bus, operationRequest);
      return transaction(operationRequest, async ({ requests }) => {
        const { params, caller } = operationRequest;
        const before = await requests.getVisible(params, caller.id);
        await requests.save(discardChange(before, params.changeId, actorOf(caller, requests.now())));
        return null;
      });
    }),

    implement(SetTitle, async (request) => {
      await requireProject(bus, request);
      return transaction(request, async ({ requests }) => {
        const { params, body, caller } = request;
        const before = await requests.getVisible(params, caller.id);
        await requests.save(withoutEvents(setTitle(before, body.title, rolesOf(caller, before))));
        return null;
      });
    }),

    implement(DiscardDraft, async (operationRequest) => {
      await requireProject(bus, operationRequest);
      return transaction(operationRequest, async ({ requests }) => {
        const { params, caller } = operationRequest;
        const request = await requests.getVisible(params, caller.id);
        const actor = { ...actorOf(caller, requests.now()), roles: rolesOf(caller, request) };
        await requests.remove(request, discardDraft(request, actor));
        return null;
      });
    }),

    // Replaces one change. As for new changes, the features service checks it first, and a concurrent edit causes a retry.
    implement(EditChange, async (operationRequest) => {
      const { params, body, caller } = operationRequest;
      refusePrototypeKeys(body, '/body');
      const change = parseChange(body, '/body');
      const replyOf = (request: ChangeRequest) =>
        responseWithPreview({ bus, reader }, request, onBehalfOf(operationRequest));

      /** Returns undefined and writes nothing if the request was edited since the check. */
      const editIfCurrent = async () => {
        const base = await reader.getVisible(params, caller.id);
        requireAuthor(base, caller.id);
        const replaced = requireChange(base, params.changeId);
        requireSameSubject(replaced, change);
        const unchecked = { changes: [change], earlier: base.changes, replaced, isList: false };
        const [checked] = await checkProposedChanges(bus, base, unchecked, onBehalfOf(operationRequest));
        if (checked === undefined)
          throw new Error(
            `The features service returned no result for change ${params.changeId} of change request ${params.id}.`,
          );
        const edit = async ({ requests }: Transaction): Promise<ChangeRequest | undefined> => {
          const before = await requests.getVisible(params, caller.id);
          if (before.revision !== base.revision) return undefined;
          const decision = editChange(before, params.changeId, checked, actorOf(caller, requests.now()));
          await requests.save(decision);
          return decision.request;
        };
        return transaction.commitThenReply(operationRequest, edit, replyOf);
      };

      return retryUntilCurrent(
        async () => (await transaction.replay(operationRequest, replyOf)) ?? (await editIfCurrent()),
      );
    }),
  ];
}

interface UncheckedChanges {
  readonly changes: readonly Change[];
  /** the changes that the request has */
  readonly earlier: readonly ProposedChange[];
  /** the earlier change whose place the only new one takes; otherwise the rules for merging decide which changes are replaced */
  readonly replaced?: ProposedChange;
  /** whether the body is a list of changes, or a single one: a refusal names its paths */
  readonly isList: boolean;
}

/** Lets the features service check changes on top of the earlier ones that can affect them. */
async function checkProposedChanges(
  bus: Bus,
  { project, environment }: EnvironmentRef,
  { changes, earlier, replaced, isList }: UncheckedChanges,
  context: CallContext,
): Promise<readonly CheckedChange[]> {
  const related = earlierChangesForCheck(changes, earlier);
  const order =
    replaced === undefined
      ? orderOfApplication(related, changes)
      : related.map((change, index) => (change === replaced ? related.length : index));
  const isAsListed = order.length === related.length + changes.length && order.every((index, place) => index === place);
  const body = {
    project,
    environment,
    changes: [...changes],
    earlier: related.map(toWireChange),
    ...(isAsListed ? {} : { order: [...order] }),
  };
  const checked = await call(bus, CheckChanges, { body }, context).catch((error: unknown) => {
    throw isList ? error : withPathsOfSingleChange(error);
  });
  return checked.changes;
}

/** The maximum number of attempts while the request is edited concurrently. */
const maxTries = 20;

/**
 * Repeats a write that checks a request without locking it, until no other edit of the request happens between the check and the write.
 * @param attempt returns undefined, and writes nothing, if the request was edited since the check
 * @throws Refusal `ConflictError` if the request was edited during every attempt
 */
export async function retryUntilCurrent<T>(attempt: () => Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < maxTries; tries++) {
    const reply = await attempt();
    if (reply !== undefined) return reply;
    // Jitter, so that two conflicting attempts do not collide again.
    await sleep(Math.random() * 10);
  }
  throw changedBySomeoneElse();
}

/** Runs a job under the mutex of its key, and resolves with its result. */
export type KeyedMutex = <T>(key: string, job: () => Promise<T>) => Promise<T>;

/**
 * A mutex per key within this process. It only reduces contention: across processes the database's locks guarantee the order.
 */
export function keyedMutex(): KeyedMutex {
  const last = new Map<string, Promise<unknown>>();
  return (key, job) => {
    const current = (last.get(key) ?? Promise.resolve()).then(job);
    const ended = current.then(
      () => undefined,
      () => undefined,
    );
    last.set(key, ended);
    void ended.then(() => {
      if (last.get(key) === ended) last.delete(key);
    });
    return current;
  };
}

type AddChangesRequest = OperationRequest<typeof AddChanges>;

interface Proposal {
  readonly operationRequest: AddChangesRequest;
  readonly environmentRef: EnvironmentRef;
  readonly changes: readonly Change[];
  /** whether to add to a draft only, and never to a request in review */
  readonly draftOnly: boolean;
}

function parseProposal(operationRequest: AddChangesRequest): Proposal {
  const { params, query, body } = operationRequest;
  refusePrototypeKeys(body, '/body');
  return {
    operationRequest,
    environmentRef: { project: params.projectId, environment: params.environment },
    changes: parseChanges(body),
    draftOnly: query.new === true,
  };
}

/** The checked changes with their ids, and the time at which they are added to a request that is not locked. */
interface CheckedProposal extends Proposal, ReservedIds {
  /** the protected environments that are connected to the project */
  readonly protections: readonly Protection[];
  readonly checked: readonly CheckedChange[];
}

function addTo(
  request: ChangeRequest,
  { operationRequest, checked, ids, now }: CheckedProposal,
  addedAt = now,
): ChangeRequestDecision {
  return addChanges(request, checked, ids, actorOf(operationRequest.caller, addedAt));
}

async function addToNewDraft(
  { requests, protections }: Transaction,
  proposal: CheckedProposal,
  allowsVoluntaryRequests: boolean,
): Promise<ChangeRequest | undefined> {
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
}

/** Adds to a draft by one statement, without locking it first. */
async function addToDraft(
  { requests }: Transaction,
  proposal: CheckedProposal,
  draft: ChangeRequest,
): Promise<ChangeRequest | undefined> {
  const decision = addTo(draft, proposal);
  if (decision.request !== draft && !(await requests.saveDraft(draft, decision))) return undefined;
  return decision.request;
}

/** Adds to a request in review or approved, which it locks first. */
async function addToRequestInReview(
  { requests }: Transaction,
  proposal: CheckedProposal,
  base: ChangeRequest,
): Promise<ChangeRequest | undefined> {
  const before = await requests.getOfAnyProjectForUpdate(base.id);
  if (before?.revision !== base.revision || !acceptsChanges(before, proposal)) return undefined;
  const decision = addTo(before, proposal, requests.now());
  if (decision.request !== before) await requests.save(decision);
  return decision.request;
}

/**
 * Adds the changes to the caller's pending request for the project and environment, or to a new draft. The preview in the reply is computed
 * while the transaction runs. Returns undefined and writes nothing if the request was edited since the check, or if a draft now exists.
 */
async function addIfCurrent(
  { bus, reader, newChangeIds, transaction, allowsVoluntaryRequests }: ChangeRequestsContext,
  proposal: Proposal,
) {
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
}
