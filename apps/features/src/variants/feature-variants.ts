import {
  type FeatureVariant,
  isEqual,
  isEqualContent,
  type JsonPatch,
  refusal,
  lenientSchema,
  VariantList,
} from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import { type Decision, type DomainEvent, type Feature, featureEvent } from '../features/feature.ts';
import { type PatchableMembers, applyPatch } from '../features/json-patch.ts';
import { featureNotInEnvironment } from '../refusals.ts';
import { inEnvironment, withEnvironment } from '../features/feature-in-environment.ts';
import { hasEnvironment, type ProjectContext } from '../projects/project-context.ts';
import { normalizeFeatureVariants, type WeightMode } from './normalize-variants.ts';

const requireConnected = (feature: Feature, environment: string, projectContext: ProjectContext): void => {
  if (!hasEnvironment(projectContext, environment)) {
    throw featureNotInEnvironment(feature.name, environment);
  }
};

/**
 * Refuses to add the first variants to a feature: new variants belong to strategies, and only features that have their own may change them.
 */
const requireVariants = (feature: Feature): void => {
  if (Object.values(feature.environments).some(({ variants }) => variants.length > 0)) return;
  throw refusal(
    'InvalidOperationError',
    `Environment variants deprecated for feature: ${feature.name}. Use strategy variants instead.`,
  );
};

/** The names of the project's environments, in their order. */
const environmentNames = ({ environments }: ProjectContext): readonly string[] => environments.map(({ name }) => name);

/** The variants of the first environment that has any. */
export const variantsOfFirstEnvironment = (
  feature: Feature,
  projectContext: ProjectContext,
): readonly FeatureVariant[] =>
  environmentNames(projectContext)
    .map((environment) => inEnvironment(feature, environment).variants)
    .find((variants) => variants.length > 0) ?? [];

const inEachEnvironment = (
  feature: Feature,
  environments: readonly string[],
  decide: (feature: Feature, environment: string) => Decision,
): Decision =>
  environments.reduce<Decision>(
    (decision, environment) => {
      const { feature: after, events } = decide(decision.feature, environment);
      return { feature: after, events: [...decision.events, ...events] };
    },
    { feature, events: [] },
  );

const patchable: PatchableMembers = { members: new Set(['variants']), maps: new Set() };

const patchVariantList = (variants: readonly FeatureVariant[], patch: JsonPatch): readonly FeatureVariant[] => {
  // A patch applies to an object, so the list is wrapped in one and the paths are prefixed with its name.
  const steps = patch.map(({ path, from, ...step }) => ({
    ...step,
    path: `/variants${path}`,
    ...(from === undefined ? {} : { from: `/variants${from}` }),
  }));
  return parse(lenientSchema(VariantList), applyPatch({ variants }, steps, patchable)['variants'], '/variants');
};

/** Replaces the variants of a feature in one environment, where it has had some before. */
export const setEnvironmentVariants = (
  feature: Feature,
  environment: string,
  variants: readonly FeatureVariant[],
  projectContext: ProjectContext,
): Decision => {
  requireConnected(feature, environment, projectContext);
  requireVariants(feature);
  return replaceVariants(feature, environment, variants, { path: '/body' });
};

/** Patches the list of variants of a feature in one environment, where it has had some before. */
export const patchEnvironmentVariants = (
  feature: Feature,
  environment: string,
  patch: JsonPatch,
  projectContext: ProjectContext,
): Decision => {
  requireConnected(feature, environment, projectContext);
  requireVariants(feature);
  const { variants } = inEnvironment(feature, environment);
  return replaceVariants(feature, environment, patchVariantList(variants, patch), { path: '/variants' });
};

/** Replaces the variants of a feature in some environments, with one event for each. */
export const setVariantsOfEnvironments = (
  feature: Feature,
  environments: readonly string[],
  variants: readonly FeatureVariant[],
  projectContext: ProjectContext,
): Decision => {
  for (const environment of environments) requireConnected(feature, environment, projectContext);
  return inEachEnvironment(feature, environments, (featureSoFar, environment) =>
    replaceVariants(featureSoFar, environment, variants, { path: '/body/variants' }),
  );
};

/** Replaces the variants of a feature in every environment of its project, with one event. */
export const setVariants = (
  feature: Feature,
  variants: readonly FeatureVariant[],
  projectContext: ProjectContext,
): Decision => {
  const decision = inEachEnvironment(feature, environmentNames(projectContext), (featureSoFar, environment) =>
    replaceVariants(featureSoFar, environment, variants, { path: '/body' }),
  );
  if (isEqual(decision.feature, feature)) return { feature, events: [] };
  const event: DomainEvent = featureEvent('feature-variants-updated', feature, {
    preData: { variants: variantsOfFirstEnvironment(feature, projectContext) },
    data: { variants: variantsOfFirstEnvironment(decision.feature, projectContext) },
  });
  return { feature: decision.feature, events: [event] };
};

/** Patches the variants of a feature in every environment of its project, with one event for each. */
export const patchVariants = (feature: Feature, patch: JsonPatch, projectContext: ProjectContext): Decision =>
  inEachEnvironment(feature, environmentNames(projectContext), (featureSoFar, environment) => {
    const { variants } = inEnvironment(featureSoFar, environment);
    return replaceVariants(featureSoFar, environment, patchVariantList(variants, patch), { path: '/variants' });
  });

interface ReplaceOptions {
  /** the JSON pointer of the variants in the request */
  readonly path: string;
  readonly weightMode?: WeightMode;
}

/** Replaces all variants of a feature in an environment. */
export const replaceVariants = (
  feature: Feature,
  environment: string,
  variants: readonly FeatureVariant[],
  { path, weightMode }: ReplaceOptions,
): Decision<'feature-environment-variants-updated'> => {
  const before = inEnvironment(feature, environment).variants;
  // The stored variants are a division of weights already: dividing them anew would move users though nothing was changed.
  if (isEqualContent({ variants }, { variants: before })) return { feature, events: [] };
  const after = normalizeFeatureVariants(variants, path, weightMode);
  if (isEqualContent({ variants: after }, { variants: before })) return { feature, events: [] };
  const event = featureEvent('feature-environment-variants-updated', feature, {
    environment,
    preData: { variants: before },
    data: { variants: after },
  });
  return { feature: withEnvironment(feature, environment, { variants: after }), events: [event] };
};
