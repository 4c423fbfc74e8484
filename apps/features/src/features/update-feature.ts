import {
  invalidProperty,
  isEqual,
  type JsonPatch,
  type PatchOperation,
  refusal,
  UpdateFeatureBody,
} from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import { type Decision, type DomainEvent, type Feature, featureEvent } from './feature.ts';
import { featureWithoutEnvironments } from './feature-without-environments.ts';
import { changeMetadata, type Metadata, metadataOfDocument } from './metadata.ts';
import { type PatchableMembers, applyPatch } from './json-patch.ts';

const staleEvent = (feature: Feature): DomainEvent =>
  featureEvent(feature.stale ? 'feature-stale-on' : 'feature-stale-off', feature);

/** Sets the metadata of a feature. Emits nothing when they are the same. */
export const setMetadata = (feature: Feature, metadata: Metadata): Decision<'feature-metadata-updated'> => {
  const after: Feature = { ...feature, ...metadata };
  if (isEqual(after, feature)) return { feature, events: [] };
  const event = featureEvent('feature-metadata-updated', feature, {
    preData: featureWithoutEnvironments(feature),
    data: featureWithoutEnvironments(after),
  });
  return { feature: after, events: [event] };
};

/** Updates the given properties; omitted ones do not change. The name and whether the feature is archived never change. */
export const updateFeature = (feature: Feature, update: UpdateFeatureBody): Decision => {
  if (update.name !== undefined && update.name !== feature.name) {
    throw invalidProperty('Cannot change name of feature flag', '/body/name');
  }
  return setMetadata(feature, changeMetadata(update, feature));
};

const variantsPatchedElsewhere =
  'Changing variants is done via PATCH operation to /api/admin/projects/:project/features/:feature/variants';

const targetsVariants = ({ path, from }: PatchOperation): boolean =>
  path.includes('/variants') || from?.includes('/variants') === true;

/**
 * Whether a step sets a member that features do not have, or no longer have. Unleash's clients send such steps and rely on their being
 * ignored.
 */
const targetsUnknownMember = ({ path }: PatchOperation, { members }: PatchableMembers): boolean => {
  const [, member = ''] = path.split('/');
  return /^[a-zA-Z]+$/.test(member) && !members.has(member) && !['constructor', 'prototype'].includes(member);
};

/**
 * Patches the metadata of a feature: a removed member returns to its value in a new feature, and a patch of any other member is ignored.
 */
export const patchFeature = (feature: Feature, patch: JsonPatch): Decision => {
  if (patch.some(targetsVariants)) throw refusal('OperationDeniedError', variantsPatchedElsewhere);
  const document = featureWithoutEnvironments(feature);
  const patchable: PatchableMembers = { members: new Set(Object.keys(document)), maps: new Set() };
  const steps = patch.filter((step) => !targetsUnknownMember(step, patchable));
  const update = parse(UpdateFeatureBody, metadataOfDocument(applyPatch(document, steps, patchable)));
  const decision = updateFeature(feature, update);
  return decision.feature.stale === feature.stale
    ? decision
    : { ...decision, events: [...decision.events, staleEvent(decision.feature)] };
};

/** Marks a feature as stale or not stale. Emits nothing when the mark does not change. */
export const markStale = (feature: Feature, stale: boolean): Decision => {
  if (feature.stale === stale) return { feature, events: [] };
  const after = { ...feature, stale };
  return { feature: after, events: [staleEvent(after)] };
};
