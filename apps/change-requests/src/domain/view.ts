import type {
  Author,
  ChangeAction,
  ChangeRequest as ShownChangeRequest,
  ChangeRequestApproval,
  ChangeRequestChange,
  ChangeRequestComment,
  ChangeRequestFeature,
  ChangeRequestOverwrite,
  ChangeRequestPreview,
  ChangeRequestSchedule,
  ChangeRequestSegment,
} from '@bunting/contracts';
import { imageUrlOf } from '@bunting/contracts/hashing';
import type { ChangeRequest, Comment, Person, ProposedChange, Schedule, Verdict } from './change-request.ts';

/** The actions that are shown with their snapshot. */
const withSnapshot: ReadonlySet<ChangeAction> = new Set([
  'updateStrategy',
  'deleteStrategy',
  'updateSegment',
  'deleteSegment',
  'patchVariant',
]);

/** An author in the format of the API. */
export const shownAuthor = ({ id, name }: Person): Author => ({
  id,
  username: name,
  imageUrl: name === null ? null : imageUrlOf(name),
});

const shownVerdict = ({ createdBy, createdAt }: Verdict): ChangeRequestApproval => ({
  createdBy: { id: createdBy.id, username: createdBy.name, imageUrl: imageUrlOf(createdBy.name) },
  createdAt,
});

const shownComment = ({ id, text, createdBy, createdAt }: Comment): ChangeRequestComment => {
  const { username, imageUrl } = shownAuthor(createdBy);
  return { id, text, createdBy: { username, imageUrl }, createdAt };
};

const shownPayload = ({ action, payload, snapshot }: ProposedChange): unknown =>
  withSnapshot.has(action) && snapshot !== null && typeof payload === 'object' ? { ...payload, snapshot } : payload;

/** The part of a preview that is shown with the changes. */
export type Outlook = Pick<ChangeRequestPreview, 'features' | 'segments'>;

const nothing: Outlook = { features: [], segments: [] };

/** The conflicts of a change, and the edits that it would overwrite. */
const shownOutlook = (
  previewed:
    | { readonly conflict?: string; readonly conflictCode?: string; readonly overwrites?: ChangeRequestOverwrite[] }
    | undefined,
) => ({
  ...(previewed?.conflict === undefined ? {} : { conflict: previewed.conflict }),
  ...(previewed?.conflictCode === undefined ? {} : { conflictCode: previewed.conflictCode }),
  ...(previewed?.overwrites === undefined ? {} : { overwrites: previewed.overwrites }),
});

type PreviewedChange = ChangeRequestPreview['features'][number]['changes'][number];

const shownScheduleConflicts = (previewed: PreviewedChange | undefined) =>
  previewed?.scheduleConflicts === undefined ? {} : { scheduleConflicts: previewed.scheduleConflicts };

const previewedById = (changes: readonly PreviewedChange[] = []) =>
  new Map(changes.map((change) => [change.id, change]));

const shownChange = (change: ProposedChange, outlook: ReadonlyMap<number, PreviewedChange>): ChangeRequestChange => ({
  id: change.id,
  action: change.action,
  ...shownOutlook(outlook.get(change.id)),
  ...shownScheduleConflicts(outlook.get(change.id)),
  payload: shownPayload(change),
  createdBy: shownAuthor(change.createdBy),
  createdAt: change.createdAt,
});

const featuresOf = (changes: readonly ProposedChange[], { features }: Outlook): ChangeRequestFeature[] => {
  const byName = Map.groupBy(changes, (change) => change.feature);
  byName.delete(null);
  const outlooks = new Map(features.map((feature) => [feature.name, feature]));
  return [...byName].map(([key, group]) => {
    const name = key ?? '';
    const outlook = outlooks.get(name);
    const previewed = previewedById(outlook?.changes);
    return {
      name,
      ...shownOutlook(outlook),
      changes: group.map((change) => shownChange(change, previewed)),
      ...(outlook?.defaultChange === undefined ? {} : { defaultChange: outlook.defaultChange }),
    };
  });
};

/** The segment name according to a change: the name at proposal, or the name that an applied change has set. */
const segmentNameOf = ({ action, segment, payload }: ProposedChange, isApplied: boolean): string => {
  const given = action === 'updateSegment' ? (payload as { readonly name?: string }).name : undefined;
  return (isApplied ? given : undefined) ?? segment?.name ?? '';
};

const segmentsOf = ({ changes, state }: ChangeRequest, outlook: Outlook): ChangeRequestSegment[] => {
  const outlooks = new Map(outlook.segments.map((segment) => [segment.id, segment]));
  const byId = new Map<number, ChangeRequestSegment>();
  for (const change of changes) {
    if (change.segment === null) continue;
    const { id } = change.segment;
    const before = byId.get(id)?.changes ?? [];
    const known = outlooks.get(id);
    const name = segmentNameOf(change, state === 'Applied');
    // The current name, or for a deleted segment the name in the newest change.
    byId.set(id, {
      id,
      name: known?.name || name,
      changes: [...before, shownChange(change, previewedById(known?.changes))],
    });
  }
  return [...byId.values()];
};

/** A schedule in the format of the API. */
export const shownSchedule = (schedule: Pick<Schedule, 'status' | 'scheduledAt' | 'reason'>): ChangeRequestSchedule => {
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
};

/** A request in the format of the API: its changes by feature and by segment, each in the order of their first change. */
export const shownChangeRequest = (request: ChangeRequest, outlook: Outlook = nothing): ShownChangeRequest => ({
  id: request.id,
  title: request.title ?? `Change request #${request.id}`,
  environment: request.environment,
  minApprovals: request.minApprovals,
  project: request.project,
  features: featuresOf(request.changes, outlook),
  segments: segmentsOf(request, outlook),
  approvals: request.approvals.map(shownVerdict),
  rejections: request.rejections.map(shownVerdict),
  comments: request.comments.map(shownComment),
  createdBy: shownAuthor(request.createdBy),
  createdAt: request.createdAt,
  state: request.state,
  ...(request.schedule === null ? {} : { schedule: shownSchedule(request.schedule) }),
  stateTimestamps: { ...request.stateTimestamps },
  revision: request.revision,
});
