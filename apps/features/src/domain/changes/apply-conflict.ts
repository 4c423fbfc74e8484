import { type Change, type ChangeOf, type FeatureChange, isSegmentChange, type Refusal } from '@bunting/contracts';
import { dependencyFault } from '../features/parts/dependency.ts';
import type { Feature } from '../features/feature.ts';
import { shortName } from '../refusals.ts';
import { hasMaxStrategies, inEnvironment } from '../strategies/strategy.ts';
import { hasEnvironment } from '../project-context.ts';
import { childrenOf } from './dependents.ts';
import { findMissingParentVariant } from './find-missing-parent-variant.ts';
import type { ChangeContext } from './rule.ts';

/** The reason why changes cannot be applied now, as a code and as text. The text has no full stop: messages embed it in sentences. */
export interface ApplyConflict {
  readonly code: string;
  readonly message: string;
  readonly feature?: string;
  readonly segment?: number;
  /** none, when the feature as a whole is in conflict */
  readonly changeId?: number;
}

type ConflictCause = Pick<ApplyConflict, 'code' | 'message'>;

const withoutFullStop = (message: string): string => message.replace(/\.$/, '');

/** The conflict of every change to a feature, such as an archived one. Archiving an archived feature is no conflict. */
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

/** The conflict of every change to a segment. */
export const findSegmentConflict = (id: number, { project, segments }: ChangeContext): ConflictCause | undefined => {
  const segment = segments.get(id);
  if (segment === undefined) return { code: 'segment-missing', message: `Segment ${id} has been deleted` };
  if (segment.project === project) return undefined;
  return {
    code: 'segment-foreign',
    message: `Segment ${shortName(segment.name)} does not belong to project "${project}"`,
  };
};

const isStrategyMissing = (change: FeatureChange, feature: Feature, environment: string): boolean => {
  const ids = new Set(inEnvironment(feature, environment).strategies.map(({ id }) => id));
  if (change.action === 'updateStrategy') return !ids.has(change.payload.id);
  return change.action === 'reorderStrategy' && change.payload.some(({ id }) => !ids.has(id));
};

const strategyConflictCause = (
  change: FeatureChange,
  { projectContext, project }: ChangeContext,
): ConflictCause | undefined => {
  if (change.action !== 'addStrategy' && change.action !== 'updateStrategy') return undefined;
  const { name, segments = [] } = change.payload;
  for (const id of segments) {
    const segment = projectContext.segments.get(id);
    if (segment === undefined) return { code: 'segment-missing', message: `Segment ${id} has been deleted` };
    if (segment.project !== null && segment.project !== project) {
      const message = `Segment ${shortName(segment.name)} does not belong to project "${project}"`;
      return { code: 'segment-foreign', message };
    }
  }
  if (name === undefined) return undefined;
  const type = projectContext.strategyTypes.get(name);
  if (type === undefined) {
    return { code: 'strategy-type-gone', message: `Strategy type ${shortName(name)} no longer exists` };
  }
  return type.deprecated
    ? { code: 'strategy-type-deprecated', message: `Strategy type ${shortName(name)} is deprecated` }
    : undefined;
};

const dependencyConflictCause = (
  child: Feature | undefined,
  parentName: string,
  context: ChangeContext,
): ConflictCause | undefined => {
  if (child === undefined) return undefined;
  const parent = context.features.get(parentName);
  const fault = dependencyFault(child, parentName, { parent, children: childrenOf(context, child.name) });
  return fault === undefined ? undefined : { code: fault.code, message: withoutFullStop(fault.message) };
};

const parentVariantConflictCause = (
  { feature: name, enabled, variants = [] }: ChangeOf<'addDependency'>['payload'],
  { features }: ChangeContext,
): ConflictCause | undefined => {
  const parent = features.get(name);
  const unknown = parent === undefined || enabled === false ? undefined : findMissingParentVariant(parent, variants);
  if (unknown === undefined) return undefined;
  const message = `Variant ${shortName(unknown)} of ${shortName(name)} no longer exists`;
  return { code: 'parent-variant', message };
};

/** Classifies the refusal of a rule as a conflict. The messages are Unleash's, except for a deprecated strategy type. */
export const conflictOfRefusal = (refused: Refusal, change: Change, context: ChangeContext): ConflictCause => {
  const message = withoutFullStop(refused.message);
  if (isSegmentChange(change)) {
    if (refused.kind === 'NameExistsError') return { code: 'segment-name', message };
    if (refused.kind === 'ConflictError') {
      const name = context.segments.get(change.payload.id)?.name ?? String(change.payload.id);
      return { code: 'segment-in-use', message: `Segment ${shortName(name)} is in use` };
    }
    return { code: 'invalid-payload', message };
  }
  const feature = context.features.get(change.feature);
  if (feature !== undefined && isStrategyMissing(change, feature, context.environment)) {
    return { code: 'strategy-deleted', message: 'Strategy has been deleted' };
  }
  if (change.action === 'addDependency') {
    return (
      dependencyConflictCause(feature, change.payload.feature, context) ??
      parentVariantConflictCause(change.payload, context) ?? { code: 'invalid-payload', message }
    );
  }
  if (change.action === 'archiveFeature') return { code: 'has-children', message };
  const isLimit = refused.kind === 'ExceedsLimitError' && change.action === 'addStrategy';
  if (isLimit && feature !== undefined && hasMaxStrategies(feature, context.environment)) {
    return { code: 'strategy-limit', message: 'Strategy limit reached' };
  }
  return strategyConflictCause(change, context) ?? { code: 'invalid-payload', message };
};
