import { type FeatureVariant, type JsonPatch, notFound, refusal, requestForm, VariantList } from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import { replaceVariants } from './environments.ts';
import type { Decision, DomainEvent, Feature } from './feature.ts';
import { type Patchable, patched } from './json-patch.ts';
import { named } from './refusals.ts';
import { isSame } from './same.ts';
import { inEnvironment } from './strategy.ts';
import { hasEnvironment, type Surroundings } from './surroundings.ts';
import { told } from './told.ts';

const requireConnected = (feature: Feature, environment: string, surroundings: Surroundings): void => {
  if (!hasEnvironment(surroundings, environment)) {
    throw notFound(`Could not find ${feature.name} in ${named(environment)}`);
  }
};

/** Features get no variants of their own any more: only those that have some may change them in one environment. */
const requireVariants = (feature: Feature): void => {
  if (Object.values(feature.environments).some(({ variants }) => variants.length > 0)) return;
  throw refusal(
    'InvalidOperationError',
    `Environment variants deprecated for feature: ${feature.name}. Use strategy variants instead.`,
  );
};

/** The names of the project's environments, in their order. */
const allOf = ({ environments }: Surroundings): readonly string[] => environments.map(({ name }) => name);

/** The variants of the first environment that has any. */
export const variantsOf = (feature: Feature, surroundings: Surroundings): readonly FeatureVariant[] =>
  allOf(surroundings)
    .map((environment) => inEnvironment(feature, environment).variants)
    .find((variants) => variants.length > 0) ?? [];

const each = (
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

const patchable: Patchable = { members: new Set(['variants']), maps: new Set() };

const patchedVariants = (variants: readonly FeatureVariant[], patch: JsonPatch): readonly FeatureVariant[] => {
  // A patch is applied to a document, so the list stands in one: paths grow by its name.
  const steps = patch.map(({ path, from, ...step }) => ({
    ...step,
    path: `/variants${path}`,
    ...(from === undefined ? {} : { from: `/variants${from}` }),
  }));
  return parse(requestForm(VariantList), patched({ variants }, steps, patchable)['variants'], '/variants');
};

/** Replaces the variants of a feature in one environment, where it has had some before. */
export const setEnvironmentVariants = (
  feature: Feature,
  environment: string,
  variants: readonly FeatureVariant[],
  surroundings: Surroundings,
): Decision => {
  requireConnected(feature, environment, surroundings);
  requireVariants(feature);
  return replaceVariants(feature, environment, variants, '/body');
};

/** Patches the list of variants of a feature in one environment, where it has had some before. */
export const patchEnvironmentVariants = (
  feature: Feature,
  environment: string,
  patch: JsonPatch,
  surroundings: Surroundings,
): Decision => {
  requireConnected(feature, environment, surroundings);
  requireVariants(feature);
  const { variants } = inEnvironment(feature, environment);
  return replaceVariants(feature, environment, patchedVariants(variants, patch), '/variants');
};

/** Replaces the variants of a feature in some environments of its project, which is told of each. */
export const setVariantsInBatch = (
  feature: Feature,
  environments: readonly string[],
  variants: readonly FeatureVariant[],
  surroundings: Surroundings,
): Decision => {
  for (const environment of environments) requireConnected(feature, environment, surroundings);
  return each(feature, environments, (now, environment) =>
    replaceVariants(now, environment, variants, '/body/variants'),
  );
};

/** Replaces the variants of a feature in every environment of its project, which is told once. */
export const setVariants = (
  feature: Feature,
  variants: readonly FeatureVariant[],
  surroundings: Surroundings,
): Decision => {
  const decision = each(feature, allOf(surroundings), (now, environment) =>
    replaceVariants(now, environment, variants, '/body'),
  );
  if (isSame(decision.feature, feature)) return { feature, events: [] };
  const event: DomainEvent = told('feature-variants-updated', feature, {
    preData: { variants: variantsOf(feature, surroundings) },
    data: { variants: variantsOf(decision.feature, surroundings) },
  });
  return { feature: decision.feature, events: [event] };
};

/** Patches the list of variants of a feature in every environment of its project, which is told of each. */
export const patchVariants = (feature: Feature, patch: JsonPatch, surroundings: Surroundings): Decision =>
  each(feature, allOf(surroundings), (now, environment) => {
    const { variants } = inEnvironment(now, environment);
    return replaceVariants(now, environment, patchedVariants(variants, patch), '/variants');
  });
