import {
  type Change,
  type ChangeRequestOverwrite,
  type ChangeWithSnapshot,
  type ConflictCause,
  isSegmentChange,
  overwriteMessage,
  refusal,
  Refusal,
} from '@bunting/contracts';
import { hasEnvironment } from '../projects/project-context.ts';
import { shortName } from '../refusals.ts';
import { type ActionHandler, segmentDeletedCause, segmentOfAnotherProjectCause } from './action-handler.ts';
import { handlerOf } from './action-handlers.ts';
import type { ChangeContext } from './change-context.ts';

/** A reason why changes cannot be applied now, and the feature or segment that it concerns. */
export interface ApplyConflict extends ConflictCause {
  readonly feature?: string;
  readonly segment?: number;
  /** the one change in conflict; undefined for a conflict of all changes of the feature */
  readonly changeId?: number;
}

/** @throws Refusal `ConflictError` that lists the conflicts, if there are any */
export function requireNoConflict(conflicts: readonly ApplyConflict[]): void {
  if (conflicts.length === 0) return;
  const reasons = conflicts.map(({ feature, segment, message }) => `${feature ?? `segment ${segment}`}: ${message}`);
  throw refusal('ConflictError', `The changes could not be applied. ${reasons.join('; ')}`, { details: conflicts });
}

/** The conflict that all changes of a feature have, for example because it is archived. Archiving an archived feature is no conflict. */
export function findFeatureConflict(
  name: string,
  changes: readonly Pick<ChangeWithSnapshot, 'change' | 'featureCreatedAt'>[],
  { project, environment, features, projectContext }: ChangeContext,
): ConflictCause | undefined {
  const feature = features.get(name);
  if (feature === undefined) return { code: 'feature-deleted', message: 'Feature has been deleted' };
  // Nobody has reviewed the changes for a feature that got the name of a deleted one.
  if (changes.some(({ featureCreatedAt = feature.createdAt }) => featureCreatedAt !== feature.createdAt)) {
    return { code: 'feature-deleted', message: 'Feature has been deleted, and another one has its name' };
  }
  if (feature.project !== project) {
    return { code: 'feature-moved', message: 'Feature has been moved to another project' };
  }
  if (!hasEnvironment(projectContext, environment)) {
    const message = `Environment ${shortName(environment)} is no longer available for this feature`;
    return { code: 'environment-unlinked', message };
  }
  if (feature.archivedAt !== null && changes.some(({ change }) => change.action !== 'archiveFeature')) {
    return { code: 'feature-archived', message: 'Feature has been archived' };
  }
  return undefined;
}

/** The conflict that all changes of a segment have, because it was deleted or belongs to another project. One of all projects has none. */
export function findSegmentConflict(id: number, { project, segments }: ChangeContext): ConflictCause | undefined {
  const segment = segments.get(id);
  if (segment === undefined) return segmentDeletedCause(id);
  const isUsable = segment.project === null || segment.project === project;
  return isUsable ? undefined : segmentOfAnotherProjectCause(segment.name, project);
}

function withoutFullStop(message: string): string {
  return message.replace(/\.$/, '');
}

/** What a change edits, and the handler of its action; undefined where that no longer exists. */
function editedBy(change: Change, { features, segments }: ChangeContext) {
  const subject = isSegmentChange(change) ? segments.get(change.payload.id) : features.get(change.feature);
  return subject && { subject, handler: handlerOf(change) as ActionHandler<Change, typeof subject, unknown> };
}

/** Classifies the refusal of a change as a conflict. The messages are Unleash's. */
export function toConflictCause(refused: Refusal, change: Change, context: ChangeContext): ConflictCause {
  const edited = editedBy(change, context);
  const { code, message } = edited?.handler.conflict(refused, edited.subject, change, context) ?? {
    code: 'invalid-payload',
    message: refused.message,
  };
  return { code, message: withoutFullStop(message) };
}

/** The current snapshot of the state that a change would replace; null when the object no longer exists. */
export function currentSnapshot(change: Change, context: ChangeContext): unknown {
  try {
    const edited = editedBy(change, context);
    return edited === undefined ? null : edited.handler.snapshot(edited.subject, change, context);
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}

/** The newer edits that a change would overwrite: those since its snapshot. */
export function findOverwrites(
  { change, snapshot }: ChangeWithSnapshot,
  context: ChangeContext,
): ChangeRequestOverwrite[] {
  return handlerOf(change).overwrites(change, { snapshot, current: currentSnapshot(change, context) });
}

/** The conflicts of changes with newer edits that they would overwrite. */
export function findOverwriteConflicts(
  changes: readonly ChangeWithSnapshot[],
  context: ChangeContext,
): ApplyConflict[] {
  return changes
    .filter((requested) => findOverwrites(requested, context).length > 0)
    .map(({ id: changeId, change }) => {
      const code = 'overwrite' as const;
      const { environment } = context;
      const { action, payload } = change;
      if (isSegmentChange(change)) {
        const { id } = change.payload;
        const segment = { id, name: context.segments.get(id)?.name ?? '' };
        const message = overwriteMessage({ action, feature: null, segment, payload }, environment);
        return { code, message, segment: id, changeId };
      }
      const { feature } = change;
      const message = overwriteMessage({ action, feature, segment: null, payload }, environment);
      return { code, message, feature, changeId };
    });
}
