import { type Bus, type CallContext, type Endpoint, implement, onBehalfOf } from '@bunting/bus';
import {
  type ChangeRequest as ChangeRequestResponse,
  type ChangeRequestChange,
  changeSentence,
  DescribeChangeRequest,
  isClosedState,
  PreviewChangeRequest,
  PreviewChanges,
  type PreviewChangesReply,
  PreviewProposal,
  type ReplyOf,
  saysEverything,
} from '@bunting/contracts';
import { parseChanges } from '@bunting/contracts/validation';
import { call } from '../calls.ts';
import type { ChangeRequestsContext } from '../endpoints.ts';
import { refusePrototypeKeys, unsavedDraft } from '../proposals/content.ts';
import { toProposedChange, toUncheckedForm, toWireChangeWithSnapshot } from '../proposals/proposed-change.ts';
import { type PreviewedChanges, toChangeRequestResponse } from '../requests/change-request-response.ts';
import { actorOf, type ChangeRequest, requireExisting } from '../requests/change-request.ts';
import type { ChangeRequestReader } from '../requests/request-read-store.ts';
import { reviewRequirement } from '../reviews/approvals.ts';
import { loadConnectedProtections } from '../reviews/endpoints.ts';
import { addConflictsWithOtherRequests, type OtherRequests, segmentsToDelete, subjectsToCompare } from './conflicts.ts';

export function previewEndpoints({ bus, reader }: ChangeRequestsContext): readonly Endpoint[] {
  return [
    // Previews changes without proposing them. Their ids are their indexes in the list.
    implement(PreviewProposal, async (operationRequest) => {
      const { params, body, caller } = operationRequest;
      refusePrototypeKeys(body, '/body');
      const actor = actorOf(caller, operationRequest.now);
      const environmentRef = { project: params.projectId, environment: params.environment };
      const draft = unsavedDraft(environmentRef, actor);
      const changes = parseChanges(body).map((change, id) =>
        toProposedChange(toUncheckedForm(change), {
          id,
          position: id,
          createdBy: actor.by,
          createdAt: draft.createdAt,
        }),
      );
      const request = { ...draft, changes };
      return (await loadPreview({ bus, reader }, request, { withStates: true }, onBehalfOf(operationRequest))).preview;
    }),

    implement(PreviewChangeRequest, async (operationRequest) => {
      const { params, caller } = operationRequest;
      const request = await reader.getVisible(params, caller.id);
      return (await loadPreview({ bus, reader }, request, { withStates: true }, onBehalfOf(operationRequest))).preview;
    }),

    implement(DescribeChangeRequest, async (operationRequest) => {
      const { id, maxChanges } = operationRequest.body;
      const request = requireExisting(await reader.byId(id), id);
      const { uid, project, environment, state, approvals, revision, schedule, changes } = request;
      const isOpen = !isClosedState(state) && changes.length > 0;
      const context = onBehalfOf(operationRequest);
      const [preview, protections] = await Promise.all([
        isOpen
          ? loadPreview({ bus, reader }, request, { withStates: false }, context).then((loaded) => loaded.preview)
          : undefined,
        isOpen ? loadConnectedProtections({ bus, reader }, project, context) : [],
      ]);
      const requirement = isOpen ? reviewRequirement(request, protections) : undefined;
      const response = toChangeRequestResponse(request, preview, requirement);
      const described = state === 'Draft' ? [] : describedChanges(response);
      return {
        uid,
        title: response.title ?? '',
        project,
        environment,
        state,
        author: response.createdBy.username ?? '',
        revision,
        basis: preview?.basis ?? null,
        approvals: approvals.length,
        minApprovals: response.minApprovals,
        scheduledAt: schedule?.scheduledAt ?? null,
        changes: described.slice(0, maxChanges).map(({ isComplete: _, ...change }) => change),
        changeCount: changes.length,
        isComplete: described.every(({ isComplete }) => isComplete),
      };
    }),
  ];
}

type DescribedChange = ReplyOf<typeof DescribeChangeRequest>['changes'][number];

const utcFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });

/** The changes in the words of the console. What they replace is what it was when they were proposed. */
function describedChanges({
  environment,
  features,
  segments,
}: ChangeRequestResponse): (DescribedChange & { isComplete: boolean })[] {
  const context = {
    environment,
    strategies: {},
    segmentNames: new Map(segments.map(({ id, name }) => [id, name])),
    timeText: (time: Date) => `${utcFormat.format(time)} UTC`,
  };
  const describe = (subject: string, change: ChangeRequestChange, conflict = change.conflict) => {
    const overwritten = (change.overwrites ?? []).map(({ property }) => property).join(', ');
    const warning = conflict ?? (overwritten === '' ? undefined : `Overwrites newer edits of ${overwritten}`);
    return {
      subject,
      ...changeSentence(change, context),
      ...(warning === undefined ? {} : { warning }),
      isComplete: overwritten === '' && saysEverything(change, subject, context),
    };
  };
  return [
    ...features.flatMap(({ name, conflict, changes }) =>
      changes.map((change) => describe(name, change, change.conflict ?? conflict)),
    ),
    ...segments.flatMap(({ name, changes }) => changes.map((change) => describe(name, change))),
  ];
}

/** The preview of one request, and with `withStates` the states that its changes would replace. */
export type PreviewWithSnapshots = PreviewChangesReply['previews'][number];

// The limits of one call, so that request and response fit into one message of the bus.
const maxChangesPerCall = 1000;
const maxCharactersPerCall = 2 * 1024 * 1024;

/** The length of the JSON text of what a call sends of a request. */
function charactersOf({ changes, schedule }: ChangeRequest): number {
  return JSON.stringify([changes, schedule]).length;
}

/** Splits requests into batches within the limits of one call; a larger request is a batch of its own. */
export function batchesWithinLimits(
  requests: readonly ChangeRequest[],
  { changes: maxChanges, characters: maxCharacters } = { changes: maxChangesPerCall, characters: maxCharactersPerCall },
): ChangeRequest[][] {
  const batches: ChangeRequest[][] = [];
  let [changes, characters] = [0, 0];
  for (const request of requests) {
    const added = charactersOf(request);
    const batch = batches.at(-1);
    const fits = changes + request.changes.length <= maxChanges && characters + added <= maxCharacters;
    if (batch !== undefined && fits) batch.push(request);
    else {
      batches.push([request]);
      [changes, characters] = [0, 0];
    }
    changes += request.changes.length;
    characters += added;
  }
  return batches;
}

function previewBody(project: string, requests: readonly ChangeRequest[], withStates: boolean) {
  return {
    project,
    withStates,
    requests: requests.map(({ environment, changes, schedule }) => ({
      environment,
      changes: changes.map((change) => toWireChangeWithSnapshot(change, schedule?.snapshots)),
    })),
  };
}

/** The sources of previews: calls of the features service, and other requests from the database. */
export interface PreviewSources {
  readonly bus: Bus;
  readonly reader: ChangeRequestReader;
}

/** Other requests that could conflict with the given ones, by at most two statements in total. */
async function loadOtherRequests(
  { reader }: PreviewSources,
  project: string,
  requests: readonly ChangeRequest[],
): Promise<OtherRequests> {
  const changes = requests.flatMap((request) => request.changes);
  const { features, segments } = subjectsToCompare(changes);
  const [scheduled, uses] = await Promise.all([
    reader.scheduled(project, features, segments),
    reader.segmentUses(project, segmentsToDelete(changes)),
  ]);
  return { scheduled, uses };
}

/**
 * Previews requests of a project by id, each independently of the others, but with its conflicts with other requests. Makes one call per
 * batch, and at most two statements.
 */
export async function loadPreviews(
  sources: PreviewSources,
  requests: readonly ChangeRequest[],
  { project, withStates }: { readonly project: string; readonly withStates: boolean },
  context: CallContext,
): Promise<Map<number, PreviewWithSnapshots>> {
  const calls = batchesWithinLimits(requests).map(async (batch) => {
    const body = previewBody(project, batch, withStates);
    return { batch, ...(await call(sources.bus, PreviewChanges, { body }, context)) };
  });
  // Awaited together: a rejection without a handler would be reported as unhandled.
  const [others, responses] = await Promise.all([loadOtherRequests(sources, project, requests), Promise.all(calls)]);
  const entries = responses.flatMap(({ batch, previews }) =>
    batch.flatMap((request, nth) => {
      const response = previews[nth];
      if (response === undefined) return [];
      return [
        [
          request.id,
          { ...response, preview: addConflictsWithOtherRequests(response.preview, request, others) },
        ] as const,
      ];
    }),
  );
  return new Map(entries);
}

/** Previews one request, like `loadPreviews`. */
export async function loadPreview(
  sources: PreviewSources,
  request: ChangeRequest,
  { withStates }: { readonly withStates: boolean },
  context: CallContext,
): Promise<PreviewWithSnapshots> {
  const previews = await loadPreviews(sources, [request], { project: request.project, withStates }, context);
  const preview = previews.get(request.id);
  if (preview === undefined)
    throw new Error(
      `The features service returned no preview for change request ${request.id}: it must return one each.`,
    );
  return preview;
}

/**
 * The bases of what requests of a project would do now, by id of the request: an approval counts only for the one that it was given for.
 * null for those in conflict. Without closed and empty requests, and without any while features services of an older version answer.
 */
export async function loadBases(
  bus: Bus,
  project: string,
  requests: readonly ChangeRequest[],
  context: CallContext,
): Promise<Map<number, string | null>> {
  const open = requests.filter((request) => !isClosedState(request.state) && request.changes.length > 0);
  const entries = batchesWithinLimits(open).map(async (batch) => {
    const { previews } = await call(bus, PreviewChanges, { body: previewBody(project, batch, false) }, context);
    return batch.flatMap(({ id }, nth) => {
      const basis = previews[nth]?.preview.basis;
      return basis === undefined ? [] : [[id, basis] as const];
    });
  });
  return new Map((await Promise.all(entries)).flat());
}

/** The previews to show with requests. Closed and empty requests have none. */
export async function loadPreviewsOfOpenRequests(
  sources: PreviewSources,
  project: string,
  requests: readonly ChangeRequest[],
  context: CallContext,
): Promise<(request: ChangeRequest) => PreviewedChanges | undefined> {
  const open = requests.filter((request) => !isClosedState(request.state) && request.changes.length > 0);
  const previews =
    open.length === 0 ? undefined : await loadPreviews(sources, open, { project, withStates: false }, context);
  return ({ id }) => previews?.get(id)?.preview;
}

/** Requests of a project in the format of the API, those that are open with their previews and with what they need now. */
export async function responsesWithPreviews(
  sources: PreviewSources,
  project: string,
  requests: readonly ChangeRequest[],
  context: CallContext,
): Promise<ChangeRequestResponse[]> {
  const isOpen = ({ state }: ChangeRequest): boolean => !isClosedState(state);
  const [previewedChangesOf, protections] = await Promise.all([
    loadPreviewsOfOpenRequests(sources, project, requests, context),
    requests.some(isOpen) ? loadConnectedProtections(sources, project, context) : [],
  ]);
  return requests.map((request) =>
    toChangeRequestResponse(
      request,
      previewedChangesOf(request),
      isOpen(request) ? reviewRequirement(request, protections) : undefined,
    ),
  );
}

/** One request in the format of the API, with its preview if it is open. */
export async function responseWithPreview(
  sources: PreviewSources,
  request: ChangeRequest,
  context: CallContext,
): Promise<ChangeRequestResponse> {
  const [response] = await responsesWithPreviews(sources, request.project, [request], context);
  if (response === undefined) throw new Error(`Change request ${request.id} has no response.`);
  return response;
}
