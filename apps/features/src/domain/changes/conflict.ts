import { type Change, type ChangeOf, type FeatureChange, isSegmentChange, type Refusal } from '@bunting/contracts';
import type { Feature } from '../feature.ts';
import { named } from '../refusals.ts';
import { inEnvironment } from '../strategy.ts';
import { hasEnvironment } from '../surroundings.ts';
import { unknownVariant } from './parent-variants.ts';
import type { Situation } from './rule.ts';

/** Why changes cannot be applied as things are, for programs and for people. Texts have no full stop: they stand inside sentences. */
export interface Conflict {
  readonly code: string;
  readonly message: string;
  readonly feature?: string;
  readonly segment?: number;
  /** none, when the feature as a whole is in conflict */
  readonly changeId?: number;
}

type Cause = Pick<Conflict, 'code' | 'message'>;

/** Why nothing can be done to a feature. To archive one that is archived is no conflict: it is as it was wished. */
export const featureConflict = (
  name: string,
  actions: readonly Change['action'][],
  { project, environment, features, surroundings }: Situation,
): Cause | undefined => {
  const feature = features.get(name);
  if (feature === undefined) return { code: 'feature-deleted', message: 'Feature has been deleted' };
  if (feature.project !== project) {
    return { code: 'feature-moved', message: 'Feature has been moved to another project' };
  }
  if (!hasEnvironment(surroundings, environment)) {
    const message = `Environment ${named(environment)} is no longer available for this feature`;
    return { code: 'environment-unlinked', message };
  }
  if (feature.archivedAt !== null && actions.some((action) => action !== 'archiveFeature')) {
    return { code: 'feature-archived', message: 'Feature has been archived' };
  }
  return undefined;
};

/** Why nothing can be done to a segment. */
export const segmentConflict = (id: number, { project, segments }: Situation): Cause | undefined => {
  const segment = segments.get(id);
  if (segment === undefined) return { code: 'segment-missing', message: `Segment ${id} has been deleted` };
  if (segment.project === project) return undefined;
  return { code: 'segment-foreign', message: `Segment ${named(segment.name)} does not belong to project "${project}"` };
};

const missingStrategy = (change: FeatureChange, feature: Feature, environment: string): boolean => {
  const known = new Set(inEnvironment(feature, environment).strategies.map(({ id }) => id));
  if (change.action === 'updateStrategy') return !known.has(change.payload.id);
  return change.action === 'reorderStrategy' && change.payload.some(({ id }) => !known.has(id));
};

const strategyCause = (change: FeatureChange, { surroundings, project }: Situation): Cause | undefined => {
  if (change.action !== 'addStrategy' && change.action !== 'updateStrategy') return undefined;
  const { name, segments = [] } = change.payload;
  for (const id of segments) {
    const segment = surroundings.segments.get(id);
    if (segment === undefined) return { code: 'segment-missing', message: `Segment ${id} has been deleted` };
    if (segment.project !== null && segment.project !== project) {
      const message = `Segment ${named(segment.name)} does not belong to project "${project}"`;
      return { code: 'segment-foreign', message };
    }
  }
  if (name !== undefined && surroundings.strategyTypes.get(name)?.deprecated !== false) {
    return { code: 'strategy-type-gone', message: `Strategy type ${named(name)} no longer exists` };
  }
  return undefined;
};

const dependencyCodes: readonly (readonly [string, string])[] = [
  ['A feature flag cannot depend on itself', 'dependency-self'],
  ['Transitive dependency detected', 'dependency-transitive'],
  ['No active feature', 'parent-missing'],
  ['Parent and child', 'dependency-project'],
];

const parentVariantCause = (
  { feature: name, enabled, variants = [] }: ChangeOf<'addDependency'>['payload'],
  { features }: Situation,
): Cause | undefined => {
  const parent = features.get(name);
  const missing = parent === undefined || enabled === false ? -1 : unknownVariant(parent, variants);
  if (missing < 0) return undefined;
  const message = `Variant ${named(variants[missing] ?? '')} of ${named(name)} no longer exists`;
  return { code: 'parent-variant', message };
};

/** What kind of conflict a rule's refusal is, told in the words that people know. */
export const causeOf = (refused: Refusal, change: Change, situation: Situation): Cause => {
  const message = refused.message.replace(/\.$/, '');
  if (isSegmentChange(change)) {
    if (refused.kind === 'NameExistsError') return { code: 'segment-name', message };
    if (refused.kind === 'ConflictError') {
      const name = situation.segments.get(change.payload.id)?.name ?? String(change.payload.id);
      return { code: 'segment-in-use', message: `Segment ${named(name)} is in use` };
    }
    return { code: 'invalid-payload', message };
  }
  const feature = situation.features.get(change.feature);
  if (feature !== undefined && missingStrategy(change, feature, situation.environment)) {
    return { code: 'strategy-deleted', message: 'Strategy has been deleted' };
  }
  if (change.action === 'addDependency') {
    const code = dependencyCodes.find(([text]) => message.startsWith(text))?.[1];
    if (code !== undefined) return { code, message };
    return parentVariantCause(change.payload, situation) ?? { code: 'invalid-payload', message };
  }
  if (change.action === 'archiveFeature') return { code: 'has-children', message };
  if (change.action === 'addStrategy' && refused.kind === 'ExceedsLimitError' && message.includes('strategy')) {
    return { code: 'strategy-limit', message: 'Strategy limit reached' };
  }
  return strategyCause(change, situation) ?? { code: 'invalid-payload', message };
};
