// Own code: most flags of an installation are on for listed users or tenants, or for a share of all users. To evaluate 100,000 of them one by one
// takes several times as long (`evaluations.perf.ts` of the gateway), most of it for references to objects that are in no cache of the processor.
import { compileStrategyType, defaultKey, type Rollout } from './compile-strategy-type.ts';
import { type EvaluationContext, fieldValue, listedValues } from './constraint.ts';
import type { CompiledFeature, EvaluableFeature, EvaluableStrategy } from './evaluator.ts';
import type { Resolution } from './resolution.ts';
import { hashAfter, hashStateOf, murmurHasher, rolloutBucket, rolloutPrefix, utf8Of } from './variant.ts';

/** Features that are evaluated together, in their order. */
export interface FeatureChunk {
  readonly features: readonly CompiledFeature[];
  /** the indexes of those that a rollout alone decides, and that have no variants */
  readonly simple: readonly number[];
  /** the names of the features on which these depend */
  readonly parents: readonly string[];
  /**
   * By index of a feature: whether it is off in a context, on without a variant, or has to be evaluated. Valid until the next call for any
   * chunk.
   */
  readonly evaluate: (context: EvaluationContext) => Uint8Array;
  /** By index of a feature: whether its resolution is `otherwise`, or has to be evaluated. Valid until the next call for any chunk. */
  readonly candidates: (context: EvaluationContext) => Uint8Array;
  /** the resolution of each feature that is off, and no rollout decides it */
  readonly otherwise: () => readonly Resolution[];
}

export const isOff = 0;
const isUndecided = 1;
export const isOn = 2;

/** An entry of an index is a number: the hash of a value times this, plus the index of a feature that is on for the value. */
const maxFeatures = 2 ** 16;
const hashOf = murmurHasher('');

/** The values of a field of which a context must have one for a strategy to be on; undefined where it lists none. */
function requiredValues({ constraints = [] }: EvaluableStrategy) {
  for (const constraint of constraints) {
    const values = listedValues(constraint);
    if (values !== undefined) return { field: constraint.contextName, values };
  }
  return undefined;
}

/** The same for all strategies of a feature; undefined where one of them lists none. */
function requiredValuesOf({ strategies = [] }: EvaluableFeature) {
  const required = strategies.map(requiredValues);
  const all = required.filter((one) => one !== undefined);
  return all.length === 0 || all.length < required.length ? undefined : all;
}

/** The first index of a sorted list at which a number is at least `limit`. */
function lowerBound(sorted: Float64Array, limit: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as number) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The gradual rollout by the stickiness `default` that alone decides a feature, which has no variants; undefined for any other feature. */
function simpleRolloutOf({ name, strategies = [], variants = [], dependencies = [] }: EvaluableFeature) {
  const [strategy] = strategies;
  if (strategy === undefined || strategies.length > 1 || dependencies.length > 0) return undefined;
  const { constraints = [], segments = [], variants: ownVariants = [] } = strategy;
  if ([constraints, segments, variants, ownVariants].some(({ length }) => length > 0)) return undefined;
  const rollout = compileStrategyType(strategy.name, strategy.parameters ?? {}, name)?.rollout;
  return rollout?.stickiness === 'default' ? rollout : undefined;
}

/** Gradual rollouts side by side in one array: following references to as many objects takes most of the time of an evaluation. */
function rolloutTable(rollouts: ReadonlyMap<number, Omit<Rollout, 'bucket'>>) {
  const rowLength = 6;
  const rows = new Int32Array(rollouts.size * rowLength);
  for (const [row, [nth, { percentage, groupId }]] of [...rollouts].entries()) {
    const { hash, block, bits, length } = hashStateOf(rolloutPrefix(groupId));
    // A bucket is a whole number from 1 to 100; a share may be any number.
    const share = Math.max(0, Math.min(100, Math.floor(percentage)));
    rows.set([nth, hash, block, bits, length, share], row * rowLength);
  }
  /** Sets the mark of each feature whose rollout includes a key. */
  return (key: string, marks: Uint8Array): void => {
    const utf8 = utf8Of(key);
    for (let at = 0; at < rows.length; at += rowLength) {
      const hash = hashAfter(
        rows[at + 1] as number,
        rows[at + 2] as number,
        rows[at + 3] as number,
        rows[at + 4] as number,
        utf8,
      );
      if (rolloutBucket(hash) <= (rows[at + 5] as number)) marks[rows[at] as number] = isOn;
    }
  };
}

/** The marks of the chunk that is evaluated now. */
const scratch = new Uint8Array(maxFeatures);

/** @param features at most 65,536 */
export function compileChunk(features: readonly CompiledFeature[]): FeatureChunk {
  /** which features have to be evaluated whatever the context */
  const always = new Uint8Array(features.length);
  /** by index of a feature */
  const rollouts = new Map<number, Omit<Rollout, 'bucket'>>();
  const parents: string[] = [];
  /** by field: the sorted entries of its index. Two values may have the same hash, so what is found is evaluated all the same. */
  const indexes = new Map<string, Float64Array>();
  const entries = new Map<string, number[]>();
  for (const [nth, compiled] of features.entries()) {
    const feature = compiled.read();
    for (const dependency of feature.dependencies ?? []) parents.push(dependency.feature);
    if (!feature.enabled) continue;
    const required = requiredValuesOf(feature);
    const rollout = simpleRolloutOf(feature);
    if (rollout !== undefined) rollouts.set(nth, rollout);
    else if (required === undefined) always[nth] = isUndecided;
    for (const { field, values } of required ?? []) {
      const list = entries.get(field) ?? [];
      entries.set(field, list);
      for (const value of values) list.push(hashOf(value) * maxFeatures + nth);
    }
  }
  for (const [field, list] of entries) indexes.set(field, Float64Array.from(list).sort());
  const markRollouts = rolloutTable(rollouts);
  const withRollouts = always.slice();
  for (const nth of rollouts.keys()) withRollouts[nth] = isUndecided;
  let otherwise: readonly Resolution[] | undefined;

  const markListed = (context: EvaluationContext, marks: Uint8Array): void => {
    for (const [field, index] of indexes) {
      const value = fieldValue(context, field);
      if (value === undefined) continue;
      const first = hashOf(value) * maxFeatures;
      for (let at = lowerBound(index, first); (index[at] as number) < first + maxFeatures; at++)
        marks[(index[at] as number) - first] = isUndecided;
    }
  };
  const marksFrom = (marks: Uint8Array): Uint8Array => {
    scratch.set(marks);
    return scratch;
  };

  return {
    features,
    simple: [...rollouts.keys()],
    parents,
    evaluate: (context) => {
      const key = defaultKey(context);
      const marks = marksFrom(key === undefined ? withRollouts : always);
      if (key !== undefined) markRollouts(key, marks);
      markListed(context, marks);
      return marks;
    },
    candidates: (context) => {
      const marks = marksFrom(withRollouts);
      markListed(context, marks);
      return marks;
    },
    otherwise: () => (otherwise ??= features.map((compiled) => compiled.resolveOff())),
  };
}
