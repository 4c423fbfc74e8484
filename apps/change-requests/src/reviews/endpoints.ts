import { type Bus, type CallContext, type Endpoint, implement, onBehalfOf } from '@bunting/bus';
import {
  AddComment,
  environmentNotInProject,
  type Caller,
  GetApprovers,
  GetChangeRequestReview,
  GetPeopleOfChangeRequest,
  GetPermissionsOfUsers,
  isClosedState,
  ListAvailableReviewers,
  ListEnvironmentSettingsOfProject,
  ListPermissionHolders,
  mayPropose,
  Refusal,
  type ReplyOf,
  type Reviewer,
  SetApprovers,
} from '@bunting/contracts';
import { call } from '../calls.ts';
import type { ChangeRequestsContext } from '../endpoints.ts';
import { acceptsChanges } from '../proposals/content.ts';
import {
  actorOf,
  type ChangeRequest,
  commentedChangeOf,
  requireExisting,
  setTitle,
} from '../requests/change-request.ts';
import { loadBases } from '../previews/endpoints.ts';
import { readInProject, requireProject } from '../requests/endpoints.ts';
import type { ChangeRequestReader } from '../requests/request-read-store.ts';
import { allowedStates } from '../states/commands.ts';
import { meetsRoleRequirement } from '../states/state-machine.ts';
import type { Transaction, UnitOfWork } from '../unit-of-work/unit-of-work.ts';
import {
  type ApprovalFacts,
  approversRequested,
  commentedOn,
  type Judgement,
  judgeRequest,
  type Protection,
  reasonToTakeBack,
  requestedReviewersWithStatus,
  requireActiveReviewers,
  requireMayRequestApproval,
  type ReviewFacts,
  reviewersToShow,
  takeBackApprovals,
  withCountingApprovals,
} from './approvals.ts';
import type { RolesOf } from './request-roles.ts';

/** How many of those who may approve a request without requested reviewers are told of it. */
const maxTold = 50;

export function reviewEndpoints({ bus, transaction, reader, rolesOf }: ChangeRequestsContext): readonly Endpoint[] {
  /** Those who may approve a request: with a role in its project, or else all, up to a limit. */
  const listApproversToTell = async (request: ChangeRequest, context: CallContext): Promise<number[]> => {
    const { project, environment, createdBy } = request;
    const permissions = ['APPROVE_CHANGE_REQUEST' as const];
    const [facts, protections, holders] = await Promise.all([
      loadReviewFacts(bus, project, [request], context),
      reader.protectedEnvironments(project),
      call(bus, ListPermissionHolders, { body: { project, environment, permissions } }, context),
    ]);
    const { affectedEnvironments } = judgeRequest(request, protections, facts, rolesOf);
    const [members, others] = [true, false].map((is) =>
      holders.users.filter(({ isMember = false }) => isMember === is).map(({ id }) => id),
    ) as [number[], number[]];
    const ids = [...members, ...others].slice(0, maxUsersPerCall);
    const { users } = await call(bus, GetPermissionsOfUsers, { body: { ids } }, context);
    const approvers = new Set(
      users
        .filter(({ caller }) =>
          meetsRoleRequirement(rolesOf(caller, { project, environment, createdBy, affectedEnvironments }), 'approver'),
        )
        .map(({ user }) => user.id),
    );
    const told = members.some((id) => approvers.has(id)) ? members : ids;
    return told.filter((id) => approvers.has(id)).slice(0, maxTold);
  };

  return [
    // Adds a comment, in any state of the request, including closed ones.
    implement(AddComment, async (request) => {
      await requireProject(bus, request);
      return transaction(request, async ({ requests }) => {
        const { params, body, caller } = request;
        const before = await requests.getVisible(params, caller.id);
        const change = body.changeId === undefined ? undefined : commentedChangeOf(before, body.changeId);
        const comment = { id: await requests.newCommentId(), text: body.text.trim(), change };
        await requests.save(commentedOn(before, comment, actorOf(caller, requests.now())));
        return null;
      });
    }),

    // Requests approvals of existing users. Their permission is checked only when they approve.
    implement(SetApprovers, async (operationRequest) => {
      const { params, body, caller } = operationRequest;
      const ids = body.reviewers;
      await requireProject(bus, operationRequest);
      if (ids.length > 0) {
        const { users } = await call(bus, GetPermissionsOfUsers, { body: { ids } }, onBehalfOf(operationRequest));
        requireActiveReviewers(ids, new Set(users.map(({ user }) => user.id)));
      }
      return transaction(operationRequest, async ({ requests }) => {
        const request = await requests.getVisible(params, caller.id);
        requireMayRequestApproval(request, caller.id);
        await requests.save(approversRequested(request, ids, actorOf(caller, requests.now())));
        return null;
      });
    }),

    implement(GetApprovers, async (operationRequest) => {
      const { params, caller } = operationRequest;
      const request = await readInProject(bus, operationRequest, reader.getVisible(params, caller.id));
      const ids = await reader.requestedApprovers(request.id);
      if (ids.length === 0) return { reviewers: [] };
      const { users } = await call(bus, GetPermissionsOfUsers, { body: { ids } }, onBehalfOf(operationRequest));
      const reviewers = new Map(users.map(({ user }) => [user.id, reviewerOfUser(user)]));
      return { reviewers: requestedReviewersWithStatus(ids, reviewers, request) };
    }),

    implement(GetChangeRequestReview, async (operationRequest) => {
      const { params, caller } = operationRequest;
      const context = onBehalfOf(operationRequest);
      const request = await readInProject(bus, operationRequest, reader.getVisible(params, caller.id));
      const { project, environment, createdBy, state } = request;
      const isClosed = isClosedState(state);
      const [facts, bases, protections, requested, isRevertible, draft] = await Promise.all([
        loadReviewFacts(bus, project, [request], context),
        request.approvals.length > 0 ? loadBases(bus, project, [request], context) : undefined,
        reader.protectedEnvironments(project),
        reader.requestedApprovers(request.id),
        state === 'Applied' && reader.isRevertible(request.id),
        state === 'Applied' ? reader.acceptingRequest(caller.id, request, { draftOnly: true }) : undefined,
      ]);
      const judgement = judgeRequest(request, protections, { ...facts, ...(bases && { bases }) }, rolesOf);
      const { minApprovals, affectedEnvironments } = judgement;
      const counting = isClosed ? request : withCountingApprovals(request, judgement);
      const permission = 'APPROVE_CHANGE_REQUEST' as const;
      const holders = isClosed
        ? []
        : (
            await call(
              bus,
              ListPermissionHolders,
              { body: { project, environment, permissions: [permission] } },
              context,
            )
          ).users;
      const reviewed = { project, environment, createdBy, affectedEnvironments };
      const mayDecide = (user: Caller): boolean => meetsRoleRequirement(rolesOf(user, reviewed), 'approver');
      const first = reviewersToShow(request, requested);
      const ids = [...new Set([createdBy.id, ...first, ...holders.map(({ id }) => id)])].filter((id) => id > 0);
      const { users } = await call(
        bus,
        GetPermissionsOfUsers,
        { body: { ids: ids.slice(0, maxUsersPerCall) } },
        context,
      );
      const approvers = isClosed ? [] : users.filter((user) => mayDecide(user.caller)).map(({ user }) => user.id);
      const shown = [
        ...new Set([
          ...first,
          ...holders
            .map(({ id }) => id)
            .filter((id) => approvers.includes(id))
            .slice(0, 100),
        ]),
      ];
      const cards = new Map(users.map(({ user }) => [user.id, reviewerOfUser(user)]));
      const roles = rolesOf(caller, reviewed);
      const mayProposeHere = mayPropose(caller, project);
      return {
        author: cards.get(createdBy.id) ?? { id: createdBy.id },
        reviewers: requestedReviewersWithStatus(shown, cards, counting).map((reviewer) => ({
          ...reviewer,
          isRequested: requested.includes(reviewer.id),
          mayApprove: approvers.includes(reviewer.id),
        })),
        missingApprovals: isClosed ? 0 : Math.max(0, minApprovals - counting.approvals.length),
        states: allowedStates(counting, { by: caller, roles }, minApprovals).filter(
          (target) => target !== 'In review' || mayProposeHere,
        ),
        mayEdit: roles.author && acceptsChanges(request, { draftOnly: false }),
        mayRename: permits(() => setTitle(request, '', roles)),
        mayRequestReviewers: permits(() => requireMayRequestApproval(request, caller.id)),
        mayRevert: isRevertible && mayProposeHere && draft === undefined,
      };
    }),

    implement(GetPeopleOfChangeRequest, async (operationRequest) => {
      const { id, withReviewers = false } = operationRequest.body;
      const request = requireExisting(await reader.byId(id), id);
      const { uid, title, state, createdBy, approvals, rejections, comments, requestedApprovers } = request;
      const isAsked = withReviewers && requestedApprovers.length === 0 && state === 'In review';
      const reviewers = isAsked ? await listApproversToTell(request, onBehalfOf(operationRequest)) : requestedApprovers;
      const others = (ids: readonly (number | null)[]): number[] =>
        [...new Set(ids)].filter((one) => one !== null && one > 0 && one !== createdBy.id) as number[];
      return {
        uid,
        title: title ?? '',
        state,
        author: createdBy.id,
        reviewers: withReviewers ? others(reviewers) : [],
        participants: others([...approvals, ...rejections, ...comments].map((part) => part.createdBy.id)),
      };
    }),

    // Lists the users who may approve in an environment. The caller is included only if they may approve their own requests.
    implement(ListAvailableReviewers, async (request) => {
      const { params, caller } = request;
      const { projectId, environment } = params;
      const context = onBehalfOf(request);
      const [{ environments }, { users }] = await Promise.all([
        call(bus, ListEnvironmentSettingsOfProject, { params: { projectId } }, context),
        call(
          bus,
          ListPermissionHolders,
          { body: { project: projectId, environment, permissions: ['APPROVE_CHANGE_REQUEST'] } },
          context,
        ),
      ]);
      if (!environments.some(({ name }) => name === environment)) {
        throw environmentNotInProject(environment, projectId);
      }
      const rolesForOwn = rolesOf(caller, { project: projectId, environment, createdBy: caller });
      const reviewers = users.filter(({ id }) => rolesForOwn.mayReviewAsAdmin || id !== caller.id);
      return { reviewers: reviewers.map(reviewerOfUser) };
    }),
  ];
}

/** Whether a rule permits something, which it would refuse otherwise. */
function permits(rule: () => unknown): boolean {
  try {
    rule();
    return true;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}

/** The protected environments of a project that are connected to it. */
export async function loadConnectedProtections(
  { bus, reader }: { readonly bus: Bus; readonly reader: ChangeRequestReader },
  project: string,
  context: CallContext,
): Promise<Protection[]> {
  const [{ environments }, protections] = await Promise.all([
    call(bus, ListEnvironmentSettingsOfProject, { params: { projectId: project } }, context),
    reader.protectedEnvironments(project),
  ]);
  return protections.filter(({ environment }) => environments.some(({ name }) => name === environment));
}

/** The maximum number of users in one call. */
const maxUsersPerCall = 1_000;

/** Loads what decides about the approvals of requests of a project, before a transaction: a lock must not wait for another service. */
export async function loadReviewFacts(
  bus: Bus,
  project: string,
  requests: readonly Pick<ChangeRequest, 'approvals'>[],
  context: CallContext,
): Promise<ReviewFacts> {
  const ids = [...new Set(requests.flatMap(({ approvals }) => approvals.map(({ createdBy }) => createdBy.id)))].filter(
    (id) => id > 0,
  );
  const batches = Array.from({ length: Math.ceil(ids.length / maxUsersPerCall) }, (_, nth) =>
    ids.slice(nth * maxUsersPerCall, (nth + 1) * maxUsersPerCall),
  );
  const [{ environments }, ...replies] = await Promise.all([
    call(bus, ListEnvironmentSettingsOfProject, { params: { projectId: project } }, context),
    ...batches.map((batch) => call(bus, GetPermissionsOfUsers, { body: { ids: batch } }, context)),
  ]);
  const found = new Map(replies.flatMap(({ users }) => users.map(({ user, caller }) => [user.id, caller] as const)));
  return {
    connected: new Set(environments.map(({ name }) => name)),
    approvers: new Map(ids.map((id) => [id, found.get(id) ?? null])),
  };
}

interface Options {
  readonly bus: Bus;
  readonly reader: ChangeRequestReader;
  readonly transaction: UnitOfWork;
  readonly rolesOf: RolesOf;
}

/** Takes back approvals of a locked request that do not count any more, with the reason; nothing if all of them suffice. */
export async function takeBackLocked(
  { requests }: Transaction,
  before: ChangeRequest,
  facts: ApprovalFacts,
): Promise<ChangeRequest> {
  const text = before.applying === null ? reasonToTakeBack(before, facts) : undefined;
  if (text === undefined) return before;
  const comment = { id: await requests.newCommentId(), text };
  const decision = takeBackApprovals(before, facts, comment, requests.now());
  await requests.save(decision);
  return decision.request;
}

/**
 * Takes back what no longer counts in requests of a project: approvals of users who lost the permission, were disabled or deleted, and the approved
 * state of requests that need more approvals than they have. Returns whether it took back anything.
 */
export type RecheckApprovals = (
  project: string,
  requests: readonly ChangeRequest[],
  context: CallContext,
  facts?: ReviewFacts,
) => Promise<boolean>;

export function approvalsRecheck({ bus, reader, transaction, rolesOf }: Options): RecheckApprovals {
  return async (project, requests, context, loaded) => {
    const reviewed = requests.filter(({ approvals, applying }) => approvals.length > 0 && applying === null);
    if (reviewed.length === 0) return false;
    const [facts, protections] = await Promise.all([
      loaded ?? loadReviewFacts(bus, project, reviewed, context),
      reader.protectedEnvironments(project),
    ]);
    const lacking = reviewed.filter(
      (request) => reasonToTakeBack(request, judgeRequest(request, protections, facts, rolesOf)) !== undefined,
    );
    let isTakenBack = false;
    for (const { id } of lacking) {
      const changed = await transaction(context, async (tx) => {
        const before = await tx.requests.getOfAnyProjectForUpdate(id);
        if (before === undefined) return false;
        return (await takeBackLocked(tx, before, await judgeLocked(tx, before, facts, rolesOf))) !== before;
      });
      isTakenBack ||= changed;
    }
    return isTakenBack;
  };
}

/** Judges a locked request by the protections as they stay until the end of the transaction. */
export async function judgeLocked(
  { protections }: Transaction,
  request: ChangeRequest,
  facts: ReviewFacts,
  rolesOf: RolesOf,
): Promise<Judgement> {
  return judgeRequest(request, await protections.ofProjectForShare(request.project), facts, rolesOf);
}

type UserDetails = ReplyOf<typeof GetPermissionsOfUsers>['users'][number]['user'];

/** A user as shown in lists of reviewers. Unknown properties are omitted. */
function reviewerOfUser({ id, email, name, username, imageUrl }: UserDetails): Reviewer {
  return {
    id,
    ...(email === null ? {} : { email }),
    ...(name === null ? {} : { name }),
    ...(username === null ? {} : { username }),
    ...(imageUrl === null ? {} : { imageUrl }),
  };
}

interface OptionsOfRecheckAllApprovals {
  readonly reader: ChangeRequestReader;
  readonly recheckApprovals: RecheckApprovals;
}

/** Takes back what no longer counts in all open requests with approvals, or in those of one project. */
export function recheckAllApprovals({ reader, recheckApprovals }: OptionsOfRecheckAllApprovals, project?: string) {
  return async (context: CallContext): Promise<void> => {
    let page = await reader.approvedAfter(0, project);
    while (page.length > 0) {
      for (const [ofProject, requests] of Map.groupBy(page, (request) => request.project)) {
        await recheckApprovals(ofProject, requests, context).catch((error: unknown) => {
          // The requests of an archived or deleted project are out of reach until it is revived.
          if (!(error instanceof Refusal) || error.kind !== 'NotFoundError') throw error;
        });
      }
      page = await reader.approvedAfter(page.at(-1)?.id ?? Number.MAX_SAFE_INTEGER, project);
    }
  };
}
