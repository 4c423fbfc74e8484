import {
  type FeatureVariant,
  invalid,
  invalidProperty,
  isEqual,
  isEqualContent,
  type JsonPatch,
  lenientSchema,
  type Payload,
  refusal,
  type StrategyVariant,
  totalWeight,
  VariantList,
} from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import {
  type Decision,
  type DomainEvent,
  type Feature,
  featureEvent,
  inEnvironment,
  withEnvironment,
} from '../features/feature.ts';
import { applyPatch, type PatchableMembers } from '../features/json-patch.ts';
import { requireUrlFriendlyName } from '../names.ts';
import { hasEnvironment, type ProjectContext } from '../projects/project-context.ts';
import { emptyValue, featureNotInEnvironment, invalidPropertyValue } from '../refusals.ts';

type AnyVariant = Pick<FeatureVariant, 'name' | 'weight' | 'payload'> &
  Required<Pick<FeatureVariant, 'weightType' | 'stickiness'>>;

function requireValidPayload({ type, value }: Payload, path: string): void {
  if (type !== 'json') return;
  try {
    JSON.parse(value);
  } catch {
    throw invalidPropertyValue("be a valid json string when 'type' is json", `${path}/value`, value);
  }
}

function requireValidNames(variants: readonly AnyVariant[], listPath: string): void {
  const names = new Set<string>();
  for (const [index, variant] of variants.entries()) {
    const path = `${listPath}/${index}/name`;
    requireUrlFriendlyName(variant.name, path);
    if (names.has(variant.name)) {
      throw invalid(`The \`${path}\` property contains a duplicate value. You provided "${variant.name}".`, path);
    }
    names.add(variant.name);
  }
}

const { compare } = new Intl.Collator('en');

/**
 * How weights are computed. `redistribute`: variable variants share the weight that fixed ones leave, and variants are sorted by name.
 * `preserve`: if the weights are integers with the sum 1000, neither they nor the order of the variants change, because both decide which
 * user gets which variant.
 */
export type WeightMode = 'redistribute' | 'preserve';

function haveCompleteWeights(variants: readonly AnyVariant[]): boolean {
  return (
    variants.every(({ weight }) => Number.isInteger(weight)) &&
    variants.reduce((sum, { weight }) => sum + weight, 0) === totalWeight
  );
}

/** Whether the weights of the variable variants are equal shares already, of which `remainder` ones have what the division leaves over. */
function isDivisionInto(variants: readonly AnyVariant[], share: number, remainder: number): boolean {
  const weights = variants.filter(({ weightType }) => weightType === 'variable').map(({ weight }) => weight);
  return (
    weights.every((weight) => weight === share || weight === share + 1) &&
    weights.filter((weight) => weight === share + 1).length === remainder
  );
}

/**
 * Validates names, payloads, stickiness and weights, divides the weight that fixed variants leave among the variable ones, and sorts the
 * variants by name. The first variable variants of the request get what the division leaves over, unless its weights are such a division
 * already: what a change request proposes has been divided when it is applied, and so has what was read from elsewhere.
 */
function normalizeVariants<V extends AnyVariant>(variants: readonly V[], path: string, mode: WeightMode): readonly V[] {
  if (variants.length === 0) return variants;
  requireValidNames(variants, path);
  let fixed = 0;
  let variable = 0;
  for (const [index, { weight, weightType, stickiness, payload }] of variants.entries()) {
    if (payload !== undefined) requireValidPayload(payload, `${path}/${index}/payload`);
    if (stickiness === '') throw emptyValue(`${path}/${index}/stickiness`);
    if (weightType === 'variable') variable += 1;
    else if (Number.isInteger(weight)) fixed += weight;
    else throw invalidPropertyValue('be integer', `${path}/${index}/weight`, weight);
  }
  if (variable === 0) throw invalidProperty('There must be at least one "variable" variant', path);
  if (fixed > totalWeight) throw invalidProperty('The traffic distribution total must equal 100%', path);
  if (mode === 'preserve' && haveCompleteWeights(variants)) return variants;

  const share = Math.floor((totalWeight - fixed) / variable);
  let remainder = (totalWeight - fixed) % variable;
  const isDivided = isDivisionInto(variants, share, remainder);
  const weighted = variants.map((variant) => {
    if (variant.weightType === 'fix' || isDivided) return variant;
    const weight = remainder > 0 ? share + 1 : share;
    remainder -= 1;
    return { ...variant, weight };
  });
  return weighted.sort((one, other) => compare(one.name, other.name));
}

function withPayload(payload: Payload | undefined): { payload?: Payload } {
  return payload === undefined ? {} : { payload: { type: payload.type, value: payload.value } };
}

/** Validates the variants of a strategy and returns their stored form: weights that sum to 1000, in the order that `mode` requires. */
export function normalizeStrategyVariants(
  variants: readonly StrategyVariant[],
  path: string,
  mode: WeightMode = 'redistribute',
): readonly StrategyVariant[] {
  return normalizeVariants(
    variants.map(({ name, weight, weightType, stickiness, payload }) => ({
      name,
      weight,
      weightType,
      stickiness,
      ...withPayload(payload),
    })),
    path,
    mode,
  );
}

/**
 * Validates the variants of a feature in an environment and returns their stored form: weights that sum to 1000, in the order that `mode`
 * requires.
 */
export function normalizeFeatureVariants(
  variants: readonly FeatureVariant[],
  path: string,
  mode: WeightMode = 'redistribute',
): readonly FeatureVariant[] {
  return normalizeVariants(
    variants.map(({ name, weight, weightType = 'variable', stickiness = 'default', payload, overrides }) => ({
      name,
      weight,
      weightType,
      stickiness,
      ...withPayload(payload),
      ...(overrides === undefined
        ? {}
        : { overrides: overrides.map(({ contextName, values }) => ({ contextName, values })) }),
    })),
    path,
    mode,
  );
}

function requireConnected(feature: Feature, environment: string, projectContext: ProjectContext): void {
  if (!hasEnvironment(projectContext, environment)) {
    throw featureNotInEnvironment(feature.name, environment);
  }
}

/**
 * Refuses to add the first variants to a feature: new variants belong to strategies, and only features that have their own may change them.
 */
function requireVariants(feature: Feature): void {
  if (Object.values(feature.environments).some(({ variants }) => variants.length > 0)) return;
  throw refusal(
    'InvalidOperationError',
    `Environment variants deprecated for feature: ${feature.name}. Use strategy variants instead.`,
  );
}

/** The names of the project's environments, in their order. */
function environmentNames({ environments }: ProjectContext): readonly string[] {
  return environments.map(({ name }) => name);
}

/** The variants of the first environment that has any. */
export function variantsOfFirstEnvironment(
  feature: Feature,
  projectContext: ProjectContext,
): readonly FeatureVariant[] {
  return (
    environmentNames(projectContext)
      .map((environment) => inEnvironment(feature, environment).variants)
      .find((variants) => variants.length > 0) ?? []
  );
}

function inEachEnvironment(
  feature: Feature,
  environments: readonly string[],
  decide: (feature: Feature, environment: string) => Decision,
): Decision {
  return environments.reduce<Decision>(
    (decision, environment) => {
      const { feature: after, events } = decide(decision.feature, environment);
      return { feature: after, events: [...decision.events, ...events] };
    },
    { feature, events: [] },
  );
}

const patchable: PatchableMembers = { members: new Set(['variants']), maps: new Set() };

function patchVariantList(variants: readonly FeatureVariant[], patch: JsonPatch): readonly FeatureVariant[] {
  // A patch applies to an object, so the list is wrapped in one and the paths are prefixed with its name.
  const steps = patch.map(({ path, from, ...step }) => ({
    ...step,
    path: `/variants${path}`,
    ...(from === undefined ? {} : { from: `/variants${from}` }),
  }));
  return parse(lenientSchema(VariantList), applyPatch({ variants }, steps, patchable)['variants'], '/variants');
}

/** Replaces the variants of a feature in one environment, where it has had some before. */
export function setEnvironmentVariants(
  feature: Feature,
  environment: string,
  variants: readonly FeatureVariant[],
  projectContext: ProjectContext,
): Decision {
  requireConnected(feature, environment, projectContext);
  requireVariants(feature);
  return replaceVariants(feature, environment, variants, { path: '/body' });
}

/** Patches the list of variants of a feature in one environment, where it has had some before. */
export function patchEnvironmentVariants(
  feature: Feature,
  environment: string,
  patch: JsonPatch,
  projectContext: ProjectContext,
): Decision {
  requireConnected(feature, environment, projectContext);
  requireVariants(feature);
  const { variants } = inEnvironment(feature, environment);
  return replaceVariants(feature, environment, patchVariantList(variants, patch), { path: '/variants' });
}

/** Replaces the variants of a feature in some environments, with one event for each. */
export function setVariantsOfEnvironments(
  feature: Feature,
  environments: readonly string[],
  variants: readonly FeatureVariant[],
  projectContext: ProjectContext,
): Decision {
  for (const environment of environments) requireConnected(feature, environment, projectContext);
  return inEachEnvironment(feature, environments, (featureSoFar, environment) =>
    replaceVariants(featureSoFar, environment, variants, { path: '/body/variants' }),
  );
}

/** Replaces the variants of a feature in every environment of its project, with one event. */
export function setVariants(
  feature: Feature,
  variants: readonly FeatureVariant[],
  projectContext: ProjectContext,
): Decision {
  const decision = inEachEnvironment(feature, environmentNames(projectContext), (featureSoFar, environment) =>
    replaceVariants(featureSoFar, environment, variants, { path: '/body' }),
  );
  if (isEqual(decision.feature, feature)) return { feature, events: [] };
  const event: DomainEvent = featureEvent('feature-variants-updated', feature, {
    preData: { variants: variantsOfFirstEnvironment(feature, projectContext) },
    data: { variants: variantsOfFirstEnvironment(decision.feature, projectContext) },
  });
  return { feature: decision.feature, events: [event] };
}

/** Patches the variants of a feature in every environment of its project, with one event for each. */
export function patchVariants(feature: Feature, patch: JsonPatch, projectContext: ProjectContext): Decision {
  return inEachEnvironment(feature, environmentNames(projectContext), (featureSoFar, environment) => {
    const { variants } = inEnvironment(featureSoFar, environment);
    return replaceVariants(featureSoFar, environment, patchVariantList(variants, patch), { path: '/variants' });
  });
}

interface ReplaceOptions {
  /** the JSON pointer of the variants in the request */
  readonly path: string;
  readonly weightMode?: WeightMode;
}

export function replaceVariants(
  feature: Feature,
  environment: string,
  variants: readonly FeatureVariant[],
  { path, weightMode }: ReplaceOptions,
): Decision<'feature-environment-variants-updated'> {
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
}
