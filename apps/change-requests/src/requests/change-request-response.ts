import {
  type Author,
  type ChangeAction,
  type ChangeRequest as ChangeRequestResponse,
  type ChangeRequestApproval,
  type ChangeRequestChange,
  type ChangeRequestComment,
  type ChangeRequestFeature,
  type ChangeRequestOverwrite,
  type ChangeRequestPreview,
  type ChangeRequestSchedule,
  type ChangeRequestSegment,
  type ConflictCode,
  systemCaller,
} from '@bunting/contracts';
import { gravatarUrlOf } from '@bunting/contracts/hashing';
import type { ReviewRequirement } from '../reviews/approvals.ts';
import type { ChangeRequest, Comment, UserRef, ProposedChange, Schedule, Review } from './change-request.ts';

/** Whether changes are shown with their snapshot, by action. */
const hasSnapshot: Readonly<Record<ChangeAction, boolean>> = {
  updateSegment: true,
  deleteSegment: true,
  updateSegmentList: false,
  updateEnabled: false,
  addStrategy: false,
  updateStrategy: true,
  deleteStrategy: true,
  archiveFeature: false,
  patchVariant: true,
  reorderStrategy: false,
  addDependency: false,
  deleteDependency: false,
};

/** An author in the format of the API. */
export function toAuthorResponse({ id, name, username }: UserRef): Author {
  return {
    id,
    username: username ?? name,
    imageUrl: name === null ? null : gravatarUrlOf(name),
  };
}

function toReviewResponse({ createdBy, createdAt }: Review): ChangeRequestApproval {
  return {
    createdBy: {
      id: createdBy.id,
      username: createdBy.username ?? createdBy.name,
      imageUrl: gravatarUrlOf(createdBy.name),
    },
    createdAt,
  };
}

function toCommentResponse({ id, text, createdBy, createdAt, change }: Comment): ChangeRequestComment {
  const comment = { id, text, createdBy: toAuthorResponse(createdBy), createdAt };
  if (change === null) return comment;
  const { feature, segment } = change;
  return {
    ...comment,
    change: {
      id: change.id,
      action: change.action,
      ...(feature === null ? {} : { feature }),
      ...(segment === null ? {} : { segment: segment.name }),
    },
  };
}

function payloadWithSnapshot({ action, payload, snapshot }: ProposedChange): unknown {
  return hasSnapshot[action] && snapshot !== null && typeof payload === 'object' ? { ...payload, snapshot } : payload;
}

/** The part of a preview that is shown with the changes. */
export type PreviewedChanges = Pick<ChangeRequestPreview, 'features' | 'segments'>;

const noPreview: PreviewedChanges = { features: [], segments: [] };

/** The conflicts of a change, and the edits that it would overwrite. */
function previewFields(
  previewed:
    | {
        readonly conflict?: string;
        readonly conflictCode?: ConflictCode;
        readonly overwrites?: ChangeRequestOverwrite[];
      }
    | undefined,
) {
  return {
    ...(previewed?.conflict === undefined ? {} : { conflict: previewed.conflict }),
    ...(previewed?.conflictCode === undefined ? {} : { conflictCode: previewed.conflictCode }),
    ...(previewed?.overwrites === undefined ? {} : { overwrites: previewed.overwrites }),
  };
}

type PreviewedChange = ChangeRequestPreview['features'][number]['changes'][number];

function scheduleConflictsField(previewed: PreviewedChange | undefined) {
  return previewed?.scheduleConflicts === undefined ? {} : { scheduleConflicts: previewed.scheduleConflicts };
}

function previewedById(changes: readonly PreviewedChange[] = []) {
  return new Map(changes.map((change) => [change.id, change]));
}

function toChangeResponse(change: ProposedChange, preview: ReadonlyMap<number, PreviewedChange>): ChangeRequestChange {
  return {
    id: change.id,
    action: change.action,
    ...previewFields(preview.get(change.id)),
    ...scheduleConflictsField(preview.get(change.id)),
    payload: payloadWithSnapshot(change),
    createdBy: toAuthorResponse(change.createdBy),
    createdAt: change.createdAt,
  };
}

function featuresOf(changes: readonly ProposedChange[], { features }: PreviewedChanges): ChangeRequestFeature[] {
  const byName = Map.groupBy(changes, (change) => change.feature);
  const previews = new Map(features.map((feature) => [feature.name, feature]));
  return [...byName].flatMap(([name, group]) => {
    if (name === null) return [];
    const preview = previews.get(name);
    const previewed = previewedById(preview?.changes);
    return {
      name,
      ...previewFields(preview),
      changes: group.map((change) => toChangeResponse(change, previewed)),
      ...(preview?.defaultChange === undefined ? {} : { defaultChange: preview.defaultChange }),
    };
  });
}

/** The segment name according to a change: the name at proposal, or the name that an applied change has set. */
function segmentNameOf(
  { action, payload }: ProposedChange,
  segment: NonNullable<ProposedChange['segment']>,
  isApplied: boolean,
): string {
  const newName = action === 'updateSegment' ? (payload as { readonly name?: string }).name : undefined;
  return (isApplied ? newName : undefined) ?? segment.name;
}

function segmentsOf({ changes, state }: ChangeRequest, preview: PreviewedChanges): ChangeRequestSegment[] {
  const previews = new Map(preview.segments.map((segment) => [segment.id, segment]));
  const byId = new Map<number, ChangeRequestSegment>();
  for (const change of changes) {
    if (change.segment === null) continue;
    const { id } = change.segment;
    const before = byId.get(id)?.changes ?? [];
    const previewed = previews.get(id);
    const name = segmentNameOf(change, change.segment, state === 'Applied');
    // The current name, or for a deleted segment the name in the newest change.
    byId.set(id, {
      id,
      name: previewed?.name || name,
      changes: [...before, toChangeResponse(change, previewedById(previewed?.changes))],
    });
  }
  return [...byId.values()];
}

/** A schedule in the format of the API. */
export function toScheduleResponse(
  schedule: Pick<Schedule, 'status' | 'scheduledAt' | 'reason'>,
): ChangeRequestSchedule {
  const { status, scheduledAt } = schedule;
  const reason = schedule.reason ?? '';
  switch (status) {
    case 'pending':
      return { status, scheduledAt };
    case 'failed':
      return { status, scheduledAt, reason, failureReason: reason };
    case 'suspended':
      return { status, scheduledAt, reason };
  }
}

/** The steps of a request. Who took one has a name if something else of the request names them. */
function stepsOf(request: ChangeRequest): NonNullable<ChangeRequestResponse['steps']> {
  const { createdBy: author, approvals, rejections, comments, schedule, changes } = request;
  const others = [...approvals, ...rejections, ...comments, ...changes].map(({ createdBy }) => createdBy);
  const people = new Map<number, UserRef>(
    [...(schedule === null ? [] : [schedule.by]), ...others, author].map((person) => [person.id, person]),
  );
  const authorOf = (id: number): Author => {
    const person = people.get(id);
    return person === undefined ? { id } : toAuthorResponse(person);
  };
  return request.steps.map(({ state, by, at, schedule: setThen, isScheduled = false }) => ({
    state,
    ...(by === systemCaller.id ? {} : { createdBy: authorOf(by) }),
    createdAt: at,
    ...(setThen === undefined ? {} : { schedule: toScheduleResponse(setThen) }),
    ...(isScheduled ? { scheduled: true } : {}),
  }));
}

/** The title of a request; one without a title is called by its id. */
export function titleOf({ id, title }: Pick<ChangeRequest, 'id' | 'title'>): string {
  return title ?? `Change request #${id}`;
}

/**
 * A request in the format of the API: its changes by feature and by segment, each in the order of their first change.
 * @param requirement what it needs now; a closed request shows what it needed
 */
export function toChangeRequestResponse(
  request: ChangeRequest,
  preview: PreviewedChanges = noPreview,
  requirement?: ReviewRequirement,
): ChangeRequestResponse {
  return {
    id: request.id,
    title: titleOf(request),
    environment: request.environment,
    minApprovals: requirement?.minApprovals ?? request.minApprovals,
    ...(requirement === undefined ? {} : { affectedEnvironments: [...requirement.affectedEnvironments] }),
    project: request.project,
    features: featuresOf(request.changes, preview),
    segments: segmentsOf(request, preview),
    approvals: request.approvals.map(toReviewResponse),
    rejections: request.rejections.map(toReviewResponse),
    comments: request.comments.map(toCommentResponse),
    ...(request.reviewRequests.length === 0
      ? {}
      : {
          reviewRequests: request.reviewRequests.map(({ requested, withdrawn, at }) => ({
            createdBy: toAuthorResponse(request.createdBy),
            createdAt: at,
            requested: [...requested],
            withdrawn: [...withdrawn],
          })),
        }),
    ...(request.steps.length === 0 ? {} : { steps: stepsOf(request) }),
    createdBy: toAuthorResponse(request.createdBy),
    createdAt: request.createdAt,
    state: request.state,
    ...(request.schedule === null ? {} : { schedule: toScheduleResponse(request.schedule) }),
    stateTimestamps: { ...request.stateTimestamps },
    revision: request.revision,
  };
}
