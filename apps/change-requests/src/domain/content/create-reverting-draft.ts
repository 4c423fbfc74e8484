import { type InverseChange, type Refusal, refusal } from '@bunting/contracts';
import type { Actor, ChangeRequest, ChangeRequestDecision, ProposedChange } from '../../requests/change-request.ts';
import { notAllowedInState } from '../refusals.ts';
import { type NewComment, withComment } from '../title-and-comments.ts';
import { replaceContent } from '../../proposals/content.ts';
import { createDraft } from './create-draft.ts';
import { reservedIdOfNthChange, toProposedChange, toUncheckedForm } from './proposed-change.ts';

/** Descriptions of the effects of a change that no other change can undo. */
const irreversibleEffects = ({ action, feature, segment }: ProposedChange): string[] => {
  if (action === 'archiveFeature') return [`feature flag ${feature} stays archived until it is revived`];
  if (action === 'deleteSegment') return [`segment ${segment?.name ?? ''} stays deleted`];
  return [];
};

/** A text about what the reverting draft cannot undo; undefined if it undoes everything. */
export const unrevertedPart = ({ changes, id }: ChangeRequest): string | undefined => {
  const effects = changes.flatMap(irreversibleEffects);
  return effects.length === 0 ? undefined : `Not undone of change request #${id}: ${effects.join('; ')}`;
};

export const requireRevertible = (request: ChangeRequest, inverse: readonly unknown[]): void => {
  if (request.state !== 'Applied') throw notAllowedInState('reverted', request);
  if (inverse.length === 0) {
    throw refusal(
      'ConflictError',
      unrevertedPart(request) ?? 'The change request changed nothing that could be undone',
    );
  }
};

/** 409: the caller has a draft in that environment, and a user has one draft per environment. */
export const draftExistsRefusal = (): Refusal =>
  refusal('ConflictError', 'You have a draft here already: send it to review or discard it first');

/** The identity of a reverting draft, and the comment about what it cannot undo; undefined if it undoes everything. */
interface NewRevert extends Pick<ChangeRequest, 'id' | 'uid' | 'minApprovals'> {
  /** the number of approvals that it needs with its changes */
  readonly neededApprovals: number;
  readonly changeIds: readonly number[];
  readonly comment: NewComment | undefined;
}

/**
 * Creates a draft that undoes an applied request. Its snapshots are the state right after the request was applied, so that later edits
 * are shown as overwrites and never undone unnoticed.
 */
export const createRevertingDraft = (
  applied: ChangeRequest,
  inverse: readonly InverseChange[],
  { id, uid, minApprovals, neededApprovals, changeIds, comment }: NewRevert,
  actor: Actor,
): ChangeRequestDecision => {
  const { project, environment } = applied;
  const draft = createDraft({ id, uid, project, environment, minApprovals }, actor, neededApprovals);
  const createdAt = actor.now.toISOString();
  const changes = inverse.map(({ change, snapshot, segmentName }, nth) => {
    const origin = { id: reservedIdOfNthChange(changeIds, nth), position: nth + 1, createdBy: actor.by, createdAt };
    return toProposedChange(toUncheckedForm(change, segmentName ?? '', snapshot), origin);
  });
  const steps = changes.map((change) => ({ kind: 'added', change }) as const);
  const { request, events } = replaceContent(draft.request, changes, steps, actor);
  const title = `Revert of change request #${applied.id}`;
  return { request: withComment({ ...request, title }, comment, actor), events: [...draft.events, ...events] };
};
