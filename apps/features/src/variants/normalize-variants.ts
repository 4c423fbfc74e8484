import {
  type FeatureVariant,
  invalid,
  invalidProperty,
  type Payload,
  type StrategyVariant,
  totalWeight,
} from '@bunting/contracts';
import { requireUrlFriendlyName } from '../names.ts';
import { emptyValue, invalidPropertyValue } from '../refusals.ts';

type AnyVariant = Pick<FeatureVariant, 'name' | 'weight' | 'payload'> &
  Required<Pick<FeatureVariant, 'weightType' | 'stickiness'>>;

const requireValidPayload = ({ type, value }: Payload, path: string): void => {
  if (type !== 'json') return;
  try {
    JSON.parse(value);
  } catch {
    throw invalidPropertyValue("be a valid json string when 'type' is json", `${path}/value`, value);
  }
};

const requireValidNames = (variants: readonly AnyVariant[], listPath: string): void => {
  const names = new Set<string>();
  for (const [index, variant] of variants.entries()) {
    const path = `${listPath}/${index}/name`;
    requireUrlFriendlyName(variant.name, path);
    if (names.has(variant.name)) {
      throw invalid(`The \`${path}\` property contains a duplicate value. You provided "${variant.name}".`, path);
    }
    names.add(variant.name);
  }
};

const { compare } = new Intl.Collator('en');

/**
 * How weights are computed. `redistribute`: variable variants share the weight that fixed ones leave, and variants are sorted by name.
 * `preserve`: if the weights are integers with the sum 1000, neither they nor the order of the variants change, because both decide which
 * user gets which variant.
 */
export type WeightMode = 'redistribute' | 'preserve';

const haveCompleteWeights = (variants: readonly AnyVariant[]): boolean =>
  variants.every(({ weight }) => Number.isInteger(weight)) &&
  variants.reduce((sum, { weight }) => sum + weight, 0) === totalWeight;

/** Whether the weights of the variable variants are equal shares already, of which `remainder` ones have what the division leaves over. */
const isDivisionInto = (variants: readonly AnyVariant[], share: number, remainder: number): boolean => {
  const weights = variants.filter(({ weightType }) => weightType === 'variable').map(({ weight }) => weight);
  return (
    weights.every((weight) => weight === share || weight === share + 1) &&
    weights.filter((weight) => weight === share + 1).length === remainder
  );
};

/**
 * Validates names, payloads, stickiness and weights, divides the weight that fixed variants leave among the variable ones, and sorts the
 * variants by name. The first variable variants of the request get what the division leaves over, unless its weights are such a division
 * already: what a change request proposes has been divided when it is applied, and so has what was read from elsewhere.
 */
const normalizeVariants = <V extends AnyVariant>(
  variants: readonly V[],
  path: string,
  mode: WeightMode,
): readonly V[] => {
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
};

const withPayload = (payload: Payload | undefined): { payload?: Payload } =>
  payload === undefined ? {} : { payload: { type: payload.type, value: payload.value } };

/** Validates the variants of a strategy and returns their stored form: weights that sum to 1000, in the order that `mode` requires. */
export const normalizeStrategyVariants = (
  variants: readonly StrategyVariant[],
  path: string,
  mode: WeightMode = 'redistribute',
): readonly StrategyVariant[] =>
  normalizeVariants(
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

/**
 * Validates the variants of a feature in an environment and returns their stored form: weights that sum to 1000, in the order that `mode`
 * requires.
 */
export const normalizeFeatureVariants = (
  variants: readonly FeatureVariant[],
  path: string,
  mode: WeightMode = 'redistribute',
): readonly FeatureVariant[] =>
  normalizeVariants(
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
