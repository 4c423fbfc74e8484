import {
  type Author,
  type ChangeAction,
  type ChangeRequest as ShownChangeRequest,
  type ChangeRequestApproval,
  type ChangeRequestChange,
  type ChangeRequestComment,
  type ChangeRequestFeature,
  type ChangeRequestSegment,
  imageUrlOf,
} from '@bunting/contracts';
import type { ChangeRequest, Comment, Person, ProposedChange, Verdict } from './change-request.ts';

/** The actions whose payload shows what it replaces. */
const withSnapshot: ReadonlySet<ChangeAction> = new Set([
  'updateStrategy',
  'deleteStrategy',
  'updateSegment',
  'deleteSegment',
  'patchVariant',
]);

const shownPerson = ({ id, name }: Person): Author => ({
  id,
  username: name,
  imageUrl: name === null ? null : imageUrlOf(name),
});

const shownVerdict = ({ createdBy, createdAt }: Verdict): ChangeRequestApproval => ({
  createdBy: { id: createdBy.id, username: createdBy.name, imageUrl: imageUrlOf(createdBy.name) },
  createdAt,
});

const shownComment = ({ id, text, createdBy, createdAt }: Comment): ChangeRequestComment => {
  const { username, imageUrl } = shownPerson(createdBy);
  return { id, text, createdBy: { username, imageUrl }, createdAt };
};

const shownPayload = ({ action, payload, snapshot }: ProposedChange): unknown =>
  withSnapshot.has(action) && snapshot !== null && typeof payload === 'object' ? { ...payload, snapshot } : payload;

const shownChange = (change: ProposedChange): ChangeRequestChange => ({
  id: change.id,
  action: change.action,
  payload: shownPayload(change),
  createdBy: shownPerson(change.createdBy),
  createdAt: change.createdAt,
});

const featuresOf = (changes: readonly ProposedChange[]): ChangeRequestFeature[] => {
  const byName = Map.groupBy(changes, (change) => change.feature);
  byName.delete(null);
  return [...byName].map(([name, group]) => ({ name: name ?? '', changes: group.map(shownChange) }));
};

const segmentsOf = (changes: readonly ProposedChange[]): ChangeRequestSegment[] => {
  const byId = new Map<number, ChangeRequestSegment>();
  for (const change of changes) {
    if (change.segment === null) continue;
    const { id, name } = change.segment;
    const before = byId.get(id)?.changes ?? [];
    // The newest proposal knows the newest name.
    byId.set(id, { id, name, changes: [...before, shownChange(change)] });
  }
  return [...byId.values()];
};

/** A request as the interface shows it: its changes by feature and by segment, each in the order of their first change. */
export const shownChangeRequest = (request: ChangeRequest): ShownChangeRequest => ({
  id: request.id,
  title: request.title ?? `Change request #${request.id}`,
  environment: request.environment,
  minApprovals: request.minApprovals,
  project: request.project,
  features: featuresOf(request.changes),
  segments: segmentsOf(request.changes),
  approvals: request.approvals.map(shownVerdict),
  rejections: request.rejections.map(shownVerdict),
  comments: request.comments.map(shownComment),
  createdBy: shownPerson(request.createdBy),
  createdAt: request.createdAt,
  state: request.state,
  stateTimestamps: { ...request.stateTimestamps },
  revision: request.revision,
});
