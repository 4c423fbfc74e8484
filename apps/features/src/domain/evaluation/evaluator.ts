import { type Condition, conditionOf, type EvaluatedConstraint } from './constraint.ts';
import type { Situation } from './situation.ts';
import { activationOf } from './strategy.ts';
import { chosenVariant, type EvaluatedVariant } from './variant.ts';

export interface EvaluatedStrategy {
  readonly name: string;
  readonly parameters?: Readonly<Record<string, string | undefined>> | undefined;
  readonly constraints?: readonly EvaluatedConstraint[] | undefined;
  readonly segments?: readonly number[] | undefined;
  readonly variants?: readonly EvaluatedVariant[] | undefined;
}

/** A feature as SDKs are given it. */
export interface EvaluatedFeature {
  readonly name: string;
  readonly enabled: boolean;
  readonly impressionData?: boolean | undefined;
  readonly strategies?: readonly EvaluatedStrategy[] | undefined;
  readonly variants?: readonly EvaluatedVariant[] | undefined;
  readonly dependencies?:
    | readonly {
        readonly feature: string;
        readonly enabled?: boolean | undefined;
        readonly variants?: readonly string[] | undefined;
      }[]
    | undefined;
}

export interface EvaluatedSegment {
  readonly id: number;
  readonly constraints: readonly EvaluatedConstraint[];
}

/** What a user gets of a feature. */
export interface Variant {
  readonly name: string;
  readonly enabled: boolean;
  readonly payload?: EvaluatedVariant['payload'];
}

export interface Outcome {
  readonly enabled: boolean;
  readonly variant: Variant;
}

/** Features that are made ready once, and evaluated for one user after the other. */
export interface Evaluator {
  /** An unknown feature is off. */
  evaluate(name: string, situation: Situation): Outcome;
  /** Those that are on, in the order in which they were given. */
  active(situation: Situation): (Outcome & { readonly feature: EvaluatedFeature })[];
}

/** What is known already of one user: a parent is the same for all of its children, also where chance has decided. */
type Known = Map<string, Outcome>;

const noVariant: Variant = { name: 'disabled', enabled: false };
const off: Outcome = { enabled: false, variant: noVariant };

const given = ({ name, payload }: EvaluatedVariant): Variant =>
  payload === undefined ? { name, enabled: true } : { name, enabled: true, payload };

interface ReadyStrategy {
  readonly isOn: Condition;
  readonly variantFor: (situation: Situation) => Variant | undefined;
}

/** @param conditionsOf the conditions of a segment; undefined where there is no such segment */
const readyStrategy = (
  { name, parameters = {}, constraints = [], segments = [], variants = [] }: EvaluatedStrategy,
  feature: string,
  conditionsOf: (segment: number) => readonly Condition[] | undefined,
): ReadyStrategy => {
  // Of a segment that is not there nobody is known to be in it.
  const conditions = [
    ...constraints.map(conditionOf),
    ...segments.flatMap((id) => conditionsOf(id) ?? [(): boolean => false]),
  ];
  const activation = activationOf(name, parameters, feature);
  const stickiness = variants[0]?.stickiness || parameters['stickiness'] || 'default';
  const groupId = parameters['groupId'] || feature;
  return {
    isOn: (situation) => conditions.every((holds) => holds(situation)) && activation(situation),
    variantFor: (situation) => {
      const chosen = chosenVariant(variants, groupId, stickiness, situation);
      return chosen === undefined ? undefined : given(chosen);
    },
  };
};

/** Evaluates features as the SDKs of Unleash do, by the rules of their common specification. */
export const evaluatorOf = (
  features: readonly EvaluatedFeature[],
  segments: readonly EvaluatedSegment[] = [],
): Evaluator => {
  const ofSegments = new Map(segments.map(({ id, constraints }) => [id, constraints.map(conditionOf)]));
  const ready = new Map(
    features.map((feature) => [
      feature.name,
      {
        feature,
        strategies: (feature.enabled ? (feature.strategies ?? []) : []).map((strategy) =>
          readyStrategy(strategy, feature.name, (id) => ofSegments.get(id)),
        ),
      },
    ]),
  );

  const areParentsFine = ({ dependencies = [] }: EvaluatedFeature, situation: Situation, known: Known): boolean =>
    dependencies.every(({ feature: parent, enabled: mustBeOn = true, variants = [] }) => {
      const found = ready.get(parent)?.feature;
      // Parents have no parents: whoever has both says something that cannot be meant.
      if (found === undefined || (found.dependencies ?? []).length > 0) return false;
      const { enabled, variant } = outcomeOf(parent, situation, known);
      if (!mustBeOn) return !enabled;
      return enabled && (variants.length === 0 || variants.includes(variant.name));
    });

  const outcomeOf = (name: string, situation: Situation, known: Known): Outcome => {
    const before = known.get(name);
    if (before !== undefined) return before;
    const outcome = decided(name, situation, known);
    known.set(name, outcome);
    return outcome;
  };

  const decided = (name: string, situation: Situation, known: Known): Outcome => {
    const found = ready.get(name);
    if (found === undefined) return off;
    const { feature, strategies } = found;
    if (!feature.enabled || !areParentsFine(feature, situation, known)) return off;
    const matching = strategies.find(({ isOn }) => isOn(situation));
    if (matching === undefined && strategies.length > 0) return off;
    const { variants = [] } = feature;
    const ofFeature = (): Variant | undefined => {
      const chosen = chosenVariant(variants, name, variants[0]?.stickiness || 'default', situation);
      return chosen === undefined ? undefined : given(chosen);
    };
    return { enabled: true, variant: matching?.variantFor(situation) ?? ofFeature() ?? noVariant };
  };

  return {
    evaluate: (name, situation) => outcomeOf(name, situation, new Map()),
    active: (situation) => {
      const known: Known = new Map();
      const on: (Outcome & { readonly feature: EvaluatedFeature })[] = [];
      for (const { feature } of ready.values()) {
        if (!feature.enabled) continue;
        const outcome = outcomeOf(feature.name, situation, known);
        if (outcome.enabled) on.push({ ...outcome, feature });
      }
      return on;
    },
  };
};
