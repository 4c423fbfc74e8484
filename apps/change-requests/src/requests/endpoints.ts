import { type Bus, type CallContext, type Endpoint, implement, onBehalfOf, type OperationRequest } from '@bunting/bus';
import {
  affectedEnvironments,
  CountActionable,
  CountChangeRequests,
  CountOpenChangeRequests,
  GetChangeRequest,
  GetEditStatus,
  isClosedState,
  ListChangeRequests,
  ListEnvironmentSettingsOfProject,
  ListEnvironmentsOfProjects,
  ListOpenChangeRequests,
  ListPendingChangeRequests,
  ListPendingOfFeature,
  ListProjects,
  FindNeededSegmentLists,
  ListProposedSegmentStrategies,
  ListScheduled,
  maySee,
  ProposeImport,
  ReadProposedChanges,
  RevertChangeRequest,
  SearchChangeRequests,
} from '@bunting/contracts';
import { call } from '../calls.ts';
import type { ChangeRequestsContext } from '../endpoints.ts';
import { type PreviewSources, responsesWithPreviews, responseWithPreview } from '../previews/endpoints.ts';
import {
  addChanges,
  createDraft,
  createRevertingDraft,
  draftExistsRefusal,
  requireRevertible,
  unrevertedPart,
} from '../proposals/content.ts';
import { toWireChangeWithSnapshot } from '../proposals/proposed-change.ts';
import { approvalsForNewRequest } from '../protection/environment-protection.ts';
import { reviewRequirement } from '../reviews/approvals.ts';
import { loadConnectedProtections } from '../reviews/endpoints.ts';
import { countActionable, noRoles } from '../reviews/request-roles.ts';
import { executeCommand } from '../states/commands.ts';
import { meetsRoleRequirement } from '../states/state-machine.ts';
import type { Transaction } from '../unit-of-work/unit-of-work.ts';
import { parseChangeRequestFilter } from './change-request-filter.ts';
import { toAuthorResponse, toScheduleResponse } from './change-request-response.ts';
import {
  actorOf,
  type ChangeRequest,
  type EnvironmentRef,
  etagHeaderOf,
  requireOpenForPlayground,
  requireVisible,
} from './change-request.ts';
import { DraftAlreadyExistsError } from './request-store.ts';

export function requestEndpoints({
  bus,
  reader,
  transaction,
  rolesOf,
  allowsVoluntaryRequests,
}: ChangeRequestsContext): readonly Endpoint[] {
  return [
    // Searches requests in the projects that the caller may see, which the features service lists.
    implement(SearchChangeRequests, async (request) => {
      const { query, caller } = request;
      const { offset = 0, limit = 50 } = query;
      const filter = parseChangeRequestFilter(query);
      const { projects } = await call(bus, ListProjects, {}, onBehalfOf(request));
      const visibleProjects = projects
        .map(({ id }) => id)
        .filter((id) => filter.project === undefined || id === filter.project);
      const ids =
        query.reviewable === true ? await reviewableBy({ bus, reader, rolesOf }, visibleProjects, request) : undefined;
      const { total, found } = await reader.search(visibleProjects, caller.id, filter, { offset, limit }, ids);
      const open = found.filter(({ state }) => !isClosedState(state));
      const protectedOf = await loadProtectedEnvironments(
        { bus, reader },
        open.map(({ project }) => project),
        onBehalfOf(request),
      );
      const changeRequests = found.map(({ title, createdBy, schedule, actions, ...rest }) => ({
        ...rest,
        ...(isClosedState(rest.state)
          ? {}
          : {
              affectedEnvironments: affectedEnvironments(
                actions.map((action) => ({ action })),
                rest.environment,
                protectedOf(rest.project),
              ),
            }),
        ...(title === null ? {} : { title }),
        createdBy: toAuthorResponse(createdBy),
        ...(schedule === null ? {} : { schedule: toScheduleResponse(schedule) }),
      }));
      return { changeRequests, total };
    }),

    implement(GetEditStatus, async ({ body: { projects, features }, caller }) => {
      const [protectedEnvironments, waitingChanges] = await Promise.all([
        reader.protectedEnvironmentsOf(projects.filter((project) => maySee(caller, project))),
        reader.waitingChanges(features, caller.id, caller.hiddenProjects ?? []),
      ]);
      return { protectedEnvironments, waitingChanges };
    }),

    implement(CountOpenChangeRequests, async ({ caller }) => ({
      projects: await reader.openCounts(caller.id, caller.hiddenProjects ?? []),
    })),

    implement(GetChangeRequest, async (operationRequest) => {
      const { params, caller } = operationRequest;
      // A missing project also fails the preview of an open request, but a closed request has no preview.
      const request = await readInProject(bus, operationRequest, reader.getVisible(params, caller.id));
      operationRequest.setHeader('ETag', etagHeaderOf(request));
      return responseWithPreview({ bus, reader }, request, onBehalfOf(operationRequest));
    }),

    implement(ListChangeRequests, async (operationRequest) => {
      const { params, caller } = operationRequest;
      const requests = await readInProject(bus, operationRequest, reader.ofProject(params.projectId, caller.id));
      return responsesWithPreviews({ bus, reader }, params.projectId, requests, onBehalfOf(operationRequest));
    }),

    // Lists the strategies to which open requests add a segment. Omits hidden projects, and the ids and titles of drafts of other users.
    implement(ListProposedSegmentStrategies, async ({ body, caller }) => {
      const uses = await reader.strategiesUsing(body.segment, caller.id, caller.hiddenProjects ?? []);
      return {
        changeRequestStrategies: uses.map(({ request, strategy: { id, ...strategy } }) => ({
          ...(id === null ? {} : { id }),
          ...strategy,
          changeRequest: request ?? { id: null, title: null },
        })),
      };
    }),

    implement(FindNeededSegmentLists, async ({ body: { lists } }) => ({
      lists: await reader.neededSegmentLists(lists),
    })),

    // Lists the scheduled requests that affect the given features, strategies or variants, so that users can be warned before an edit.
    implement(ListScheduled, async (request) => {
      const { params, query } = request;
      const { feature: features = [], strategyId: strategies = [], variantForFlag: variants = [] } = query;
      const subjects = { features, strategies, variants };
      const found = await readInProject(bus, request, reader.scheduledAffecting(params.projectId, subjects));
      return found.map(({ id, environment, title }) => ({ id, environment, ...(title === null ? {} : { title }) }));
    }),

    implement(ReadProposedChanges, async ({ body: { id }, caller }) => {
      const found = await reader.byId(id);
      const isHidden = found !== undefined && !maySee(caller, found.project);
      const request = requireVisible(isHidden ? undefined : found, id, caller.id);
      requireOpenForPlayground(request);
      const { project, environment, changes } = request;
      return { project, environment, changes: changes.map((change) => toWireChangeWithSnapshot(change)) };
    }),

    // Lists the caller's own pending requests, in the environments that the project has now, also under its former path.
    ...[ListPendingChangeRequests, ListOpenChangeRequests].map((operation) =>
      implement(operation, (request) => {
        const pending = reader.pendingOfUser(request.caller.id, request.params.projectId);
        return responsesOfPendingRequests({ bus, reader }, request, pending);
      }),
    ),

    // Lists the pending requests of all authors that affect a feature. Drafts are shown to their authors only.
    implement(ListPendingOfFeature, (request) => {
      const { params, caller } = request;
      const pending = reader.pendingOfFeature(params.projectId, caller.id, params.featureName);
      return responsesOfPendingRequests({ bus, reader }, request, pending);
    }),

    // Counts the requests that the caller can review, apply, or reschedule because their schedule failed or is suspended.
    implement(CountActionable, async (request) => {
      const { params, caller } = request;
      const { projectId: project } = params;
      const [counts, protections] = await Promise.all([
        readInProject(bus, request, reader.actionable(project, caller.id)),
        loadConnectedProtections({ bus, reader }, project, onBehalfOf(request)),
      ]);
      const total = countActionable(counts, ({ environment, own, affectsAll }) =>
        rolesOf(caller, {
          project,
          environment,
          createdBy: { id: own ? caller.id : null },
          affectedEnvironments: affectsAll ? protections.map((protection) => protection.environment) : [],
        }),
      );
      return { total };
    }),

    implement(CountChangeRequests, (request) =>
      readInProject(bus, request, reader.countsByState(request.params.projectId)),
    ),

    // Creates a draft of the caller that undoes an applied request. Refused if the caller already has a draft in that environment.
    implement(RevertChangeRequest, async (operationRequest) => {
      const { params, caller } = operationRequest;
      await requireProject(bus, operationRequest);
      const connectedProtections = await loadConnectedProtections(
        { bus, reader },
        params.projectId,
        onBehalfOf(operationRequest),
      );
      const createDraftOf = async ({ requests, protections }: Transaction): Promise<ChangeRequest> => {
        const applied = await requests.getVisible(params, caller.id);
        const inverse = await requests.inverseOf(applied.id);
        requireRevertible(applied, inverse);
        const text = unrevertedPart(applied);
        const minApprovals = approvalsForNewRequest(
          await protections.requiredApprovals(applied),
          allowsVoluntaryRequests,
        );
        const content = {
          environment: applied.environment,
          changes: inverse.map(({ change }) => change),
          minApprovals,
        };
        const identity = {
          ...(await requests.newIdentity()),
          minApprovals,
          neededApprovals: reviewRequirement(content, connectedProtections).minApprovals,
          changeIds: (await requests.newChangeIds(inverse.length)).ids,
          comment: text === undefined ? undefined : { id: await requests.newCommentId(), text },
        };
        const decision = createRevertingDraft(applied, inverse, identity, actorOf(caller, requests.now()));
        await requests.add(decision);
        return decision.request;
      };
      const replyOf = (draft: ChangeRequest) =>
        responseWithPreview({ bus, reader }, draft, onBehalfOf(operationRequest));
      const reply = await transaction
        .commitThenReply(operationRequest, createDraftOf, replyOf)
        .catch((error: unknown) => {
          throw error instanceof DraftAlreadyExistsError ? draftExistsRefusal() : error;
        });
      if (reply === undefined)
        throw new Error(`Reverting change request ${params.id} created no draft and reported no reason.`);
      return reply;
    }),

    // Creates a separate request for an import, in addition to the author's pending requests, and sends it to review. The changes are not
    // checked again: the features service checked them together with the import.
    implement(ProposeImport, ({ body, traceparent }) =>
      transaction({ traceparent }, async ({ requests, protections }) => {
        const { importId, project, environment, title, by, changes } = body;
        const existing = await requests.lockAndFindIdOfImport(importId);
        if (existing !== undefined) return { id: existing };
        const environmentRef = { project, environment };
        const { ids, now } = await requests.newChangeIds(changes.length);
        const actor = { by, now };
        const minApprovals = approvalsForNewRequest(await protections.requiredApprovals(environmentRef), true);
        const origin = { ...(await requests.newIdentity()), ...environmentRef, minApprovals };
        const draft = createDraft(origin, actor);
        const added = addChanges(draft.request, changes, ids, actor);
        const author = { ...actor, roles: { ...noRoles, author: true } };
        const sent = executeCommand({ ...added.request, title }, { name: 'send to review' }, author);
        const events = [...draft.events, ...added.events, ...sent.events];
        await requests.addForImport(importId, { request: sent.request, events });
        return { id: sent.request.id };
      }),
    ),
  ];
}

/** The ids of the requests in review that the caller may approve, without own ones and those that the caller has approved. */
async function reviewableBy(
  { bus, reader, rolesOf }: Pick<ChangeRequestsContext, 'bus' | 'reader' | 'rolesOf'>,
  projects: readonly string[],
  operationRequest: OperationRequest<typeof SearchChangeRequests>,
): Promise<readonly number[]> {
  const { caller } = operationRequest;
  const mayApprove = ({ project, environment }: EnvironmentRef, affectedEnvironments: readonly string[]): boolean =>
    meetsRoleRequirement(
      rolesOf(caller, { project, environment, createdBy: { id: null }, affectedEnvironments }),
      'approver',
    );
  const groups = (await reader.reviewable(projects, caller.id)).filter((group) => mayApprove(group, []));
  const protectedOf = await loadProtectedEnvironments(
    { bus, reader },
    groups.flatMap(({ project, affectsAll }) => (affectsAll ? [project] : [])),
    onBehalfOf(operationRequest),
  );
  return groups.flatMap((group) =>
    mayApprove(group, group.affectsAll ? protectedOf(group.project) : []) ? group.ids : [],
  );
}

/** Loads the protected environments that projects have, in their order: with one statement and one call, however many projects there are. */
async function loadProtectedEnvironments(
  { bus, reader }: Pick<ChangeRequestsContext, 'bus' | 'reader'>,
  projects: readonly string[],
  context: CallContext,
): Promise<(project: string) => readonly string[]> {
  const known = [...new Set(projects)];
  if (known.length === 0) return () => [];
  const [stored, { environments }] = await Promise.all([
    reader.protectedEnvironmentsOf(known),
    call(bus, ListEnvironmentsOfProjects, { body: { projects: known } }, context),
  ]);
  const keyOf = ({ project, environment }: EnvironmentRef): string => JSON.stringify([project, environment]);
  const protectedKeys = new Set(stored.map(keyOf));
  const byProject = Map.groupBy(
    environments.filter((one) => protectedKeys.has(keyOf(one))),
    ({ project }) => project,
  );
  return (project) => (byProject.get(project) ?? []).map(({ environment }) => environment);
}

type RequestInProject = Parameters<typeof onBehalfOf>[0] & { readonly params: { readonly projectId: string } };

/**
 * Refuses an operation in a project that is archived or was deleted, which the features service knows. A write calls it before its
 * transaction, because a lock must not wait for another service.
 * @throws Refusal `NotFoundError`
 */
export async function requireProject(bus: Bus, request: RequestInProject): Promise<void> {
  const { projectId } = request.params;
  await call(bus, ListEnvironmentSettingsOfProject, { params: { projectId } }, onBehalfOf(request));
}

/** The result of a read in a project, which runs while the project is looked for. The refusal of a missing project takes precedence. */
export async function readInProject<T>(bus: Bus, request: RequestInProject, read: Promise<T>): Promise<T> {
  // Awaited later: without a handler, a rejection in the meantime would be reported as unhandled.
  read.catch(() => undefined);
  await requireProject(bus, request);
  return read;
}

type Request = Pick<
  OperationRequest<typeof ListPendingChangeRequests>,
  'params' | 'caller' | 'requestId' | 'traceparent' | 'deadline'
>;

/** The pending requests of a project, without those in environments that the project no longer has. */
async function responsesOfPendingRequests(
  sources: PreviewSources,
  operationRequest: Request,
  pending: Promise<readonly ChangeRequest[]>,
) {
  const { projectId } = operationRequest.params;
  const context = onBehalfOf(operationRequest);
  const [{ environments }, requests] = await Promise.all([
    call(sources.bus, ListEnvironmentSettingsOfProject, { params: { projectId } }, context),
    pending,
  ]);
  const linked = new Set(environments.map(({ name }) => name));
  return responsesWithPreviews(
    sources,
    projectId,
    requests.filter(({ environment }) => linked.has(environment)),
    context,
  );
}
