import { type Change, type ConflictCause, isSegmentChange, type Refusal, refusal } from '@bunting/contracts';
import { hasEnvironment } from '../projects/project-context.ts';
import { shortName } from '../refusals.ts';
import { segmentDeletedCause, segmentOfAnotherProjectCause } from './conflict-causes.ts';
import type { ChangeContext } from './change-context.ts';
import { featureHandlerOf, segmentHandlerOf } from './action-handlers.ts';

/** A reason why changes cannot be applied now, and the feature or segment that it concerns. */
export interface ApplyConflict extends ConflictCause {
  readonly feature?: string;
  readonly segment?: number;
  /** the one change in conflict; undefined for a conflict of all changes of the feature */
  readonly changeId?: number;
}

/** @throws Refusal `ConflictError` that lists the conflicts, if there are any */
export const requireNoConflict = (conflicts: readonly ApplyConflict[]): void => {
  if (conflicts.length === 0) return;
  const reasons = conflicts.map(({ feature, segment, message }) => `${feature ?? `segment ${segment}`}: ${message}`);
  throw refusal('ConflictError', `The changes could not be applied. ${reasons.join('; ')}`, { details: conflicts });
};

/** The conflict that all changes of a feature have, for example because it is archived. Archiving an archived feature is no conflict. */
export const findFeatureConflict = (
  name: string,
  actions: readonly Change['action'][],
  { project, environment, features, projectContext }: ChangeContext,
): ConflictCause | undefined => {
  const feature = features.get(name);
  if (feature === undefined) return { code: 'feature-deleted', message: 'Feature has been deleted' };
  if (feature.project !== project) {
    return { code: 'feature-moved', message: 'Feature has been moved to another project' };
  }
  if (!hasEnvironment(projectContext, environment)) {
    const message = `Environment ${shortName(environment)} is no longer available for this feature`;
    return { code: 'environment-unlinked', message };
  }
  if (feature.archivedAt !== null && actions.some((action) => action !== 'archiveFeature')) {
    return { code: 'feature-archived', message: 'Feature has been archived' };
  }
  return undefined;
};

/** The conflict that all changes of a segment have, because it was deleted or belongs to another project. */
export const findSegmentConflict = (id: number, { project, segments }: ChangeContext): ConflictCause | undefined => {
  const segment = segments.get(id);
  if (segment === undefined) return segmentDeletedCause(id);
  return segment.project === project ? undefined : segmentOfAnotherProjectCause(segment.name, project);
};

const withoutFullStop = (message: string): string => message.replace(/\.$/, '');

const conflictOfHandler = (refused: Refusal, change: Change, context: ChangeContext): ConflictCause | undefined => {
  if (isSegmentChange(change)) {
    const segment = context.segments.get(change.payload.id);
    return segment && segmentHandlerOf(change).conflict(refused, segment, change, context);
  }
  const feature = context.features.get(change.feature);
  return feature && featureHandlerOf(change).conflict(refused, feature, change, context);
};

/** Classifies the refusal of a change as a conflict. The messages are Unleash's, except for a deprecated strategy type. */
export const toConflictCause = (refused: Refusal, change: Change, context: ChangeContext): ConflictCause => {
  const { code, message } = conflictOfHandler(refused, change, context) ?? {
    code: 'invalid-payload',
    message: refused.message,
  };
  return { code, message: withoutFullStop(message) };
};
