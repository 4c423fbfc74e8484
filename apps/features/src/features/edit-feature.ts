import {
  type FeatureFields,
  type FeatureTypeDescription,
  invalidProperty,
  isEqual,
  type JsonPatch,
  type PatchOperation,
  refusal,
  UpdateFeatureBody,
} from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import { hasEnvironment, type ProjectContext } from '../projects/project-context.ts';
import { activeProjectNotFound, shortName } from '../refusals.ts';
import {
  changeMetadata,
  type Decision,
  type DomainEvent,
  type Feature,
  featureEvent,
  featureWithoutEnvironments,
  metadataOfDocument,
  strategiesOf,
} from './feature.ts';
import { applyPatch, type PatchableMembers } from './json-patch.ts';

function staleEvent(feature: Feature): DomainEvent {
  return featureEvent(feature.stale ? 'feature-stale-on' : 'feature-stale-off', feature);
}

/** Sets the metadata of a feature. Emits nothing when they are the same. */
export function setMetadata(feature: Feature, metadata: FeatureFields): Decision<'feature-metadata-updated'> {
  const after: Feature = { ...feature, ...metadata };
  if (isEqual(after, feature)) return { feature, events: [] };
  const event = featureEvent('feature-metadata-updated', feature, {
    preData: featureWithoutEnvironments(feature),
    data: featureWithoutEnvironments(after),
  });
  return { feature: after, events: [event] };
}

/** Updates the given properties; omitted ones do not change. The name and whether the feature is archived never change. */
export function updateFeature(feature: Feature, update: UpdateFeatureBody): Decision {
  if (update.name !== undefined && update.name !== feature.name) {
    throw invalidProperty('Cannot change name of feature flag', '/body/name');
  }
  return setMetadata(feature, changeMetadata(update, feature));
}

const variantsPatchedElsewhere =
  'Changing variants is done via PATCH operation to /api/admin/projects/:project/features/:feature/variants';

function targetsVariants({ path, from }: PatchOperation): boolean {
  return path.includes('/variants') || from?.includes('/variants') === true;
}

/**
 * Whether a step sets a member that features do not have, or no longer have. Unleash's clients send such steps and rely on their being
 * ignored.
 */
function targetsUnknownMember({ path }: PatchOperation, { members }: PatchableMembers): boolean {
  const [, member = ''] = path.split('/');
  return /^[a-zA-Z]+$/.test(member) && !members.has(member) && !['constructor', 'prototype'].includes(member);
}

/**
 * Patches the metadata of a feature: a removed member returns to its value in a new feature, and a patch of any other member is ignored.
 */
export function patchFeature(feature: Feature, patch: JsonPatch): Decision {
  if (patch.some(targetsVariants)) throw refusal('OperationDeniedError', variantsPatchedElsewhere);
  const document = featureWithoutEnvironments(feature);
  const patchable: PatchableMembers = { members: new Set(Object.keys(document)), maps: new Set() };
  const steps = patch.filter((step) => !targetsUnknownMember(step, patchable));
  const update = parse(UpdateFeatureBody, metadataOfDocument(applyPatch(document, steps, patchable)));
  const decision = updateFeature(feature, update);
  return decision.feature.stale === feature.stale
    ? decision
    : { ...decision, events: [...decision.events, staleEvent(decision.feature)] };
}

/** Marks a feature as stale or not stale. Emits nothing when the mark does not change. */
export function markStale(feature: Feature, stale: boolean): Decision {
  if (feature.stale === stale) return { feature, events: [] };
  const after = { ...feature, stale };
  return { feature: after, events: [staleEvent(after)] };
}

/** The facts about both projects that decide whether a feature can be moved. */
export interface MoveContext {
  /** the id of the target project */
  readonly to: string;
  /** the context of the current project */
  readonly source: ProjectContext;
  /** the context of the target project; undefined when it does not exist or is archived */
  readonly target: ProjectContext | undefined;
  /** the active features that depend on the feature */
  readonly children: readonly string[];
}

function environmentNames({ environments }: ProjectContext): readonly string[] {
  return environments.map(({ name }) => name).sort();
}

/** The feature without settings that are still to be removed, in environments that its project has lost. */
function inEnvironmentsOf(feature: Feature, context: ProjectContext): Feature {
  const environments = Object.entries(feature.environments).filter(([name]) => hasEnvironment(context, name));
  return { ...feature, environments: Object.fromEntries(environments) };
}

function usesForeignSegments(feature: Feature, { segments }: ProjectContext, to: string): boolean {
  return strategiesOf(feature)
    .flatMap((strategy) => strategy.segments)
    .some((id) => ![undefined, null, to].includes(segments.get(id)?.project));
}

/**
 * Moves an unchanged feature to a project with the same environments and access to its segments. The feature must have no dependencies and
 * no children.
 */
export function moveFeature(feature: Feature, { to, source, target, children }: MoveContext): Decision {
  if (target === undefined) throw activeProjectNotFound(to);
  if (feature.project === to) return { feature, events: [] };
  if (feature.dependencies.length > 0 || children.length > 0) {
    throw refusal('ForbiddenError', 'Changing project not allowed. Feature has dependencies.');
  }
  if (!isEqual(environmentNames(source), environmentNames(target)) || usesForeignSegments(feature, source, to)) {
    throw refusal('IncompatibleProjectError', `${shortName(to)} is not a compatible target`);
  }
  const moved = { ...inEnvironmentsOf(feature, source), project: to };
  const data = { oldProject: feature.project, newProject: to };
  return { feature: moved, events: [featureEvent('feature-project-change', moved, { data })] };
}

/** The number of features that a move adds to those that count towards the limit of the target: an archived feature does not count. */
export function featuresAddedByMove(before: Feature, after: Feature): number {
  return after.project !== before.project && after.archivedAt === null ? 1 : 0;
}

/** A type of features after a change, and its events. An unchanged type is returned as is, without events. */
export interface FeatureTypeDecision {
  readonly type: FeatureTypeDescription;
  readonly events: readonly DomainEvent[];
}

/** Sets the number of days after which features of a type are potentially stale; 0 and null mean never. */
export function setLifetime(before: FeatureTypeDescription, days: number | null): FeatureTypeDecision {
  const lifetimeDays = days || null;
  if (lifetimeDays === before.lifetimeDays) return { type: before, events: [] };
  const type = { ...before, lifetimeDays };
  return { type, events: [{ type: 'feature-type-updated', data: type, preData: before }] };
}
