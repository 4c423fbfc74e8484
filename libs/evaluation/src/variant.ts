import { type EvaluationContext, fieldValue, randomKey } from './evaluation-context.ts';
import { variantBuckets } from './murmur-hash.ts';

/** The variant that a user gets. */
export interface Variant {
  readonly name: string;
  readonly enabled: boolean;
  readonly payload?: EvaluableVariant['payload'];
}

/** A variant as SDKs receive it. */
export interface EvaluableVariant {
  readonly name: string;
  readonly weight: number;
  readonly stickiness?: string | undefined;
  readonly payload?: { readonly type: string; readonly value: string } | undefined;
  readonly overrides?: readonly { readonly contextName: string; readonly values: readonly string[] }[] | undefined;
}

const stickyKey = (stickiness: string, context: EvaluationContext): string => {
  if (stickiness !== 'default') return fieldValue(context, stickiness) ?? randomKey(context);
  const fields = ['userId', 'sessionId', 'remoteAddress'];
  for (const field of fields) {
    const value = fieldValue(context, field);
    if (value !== undefined) return value;
  }
  return randomKey(context);
};

const toVariant = ({ name, payload }: EvaluableVariant): Variant =>
  payload === undefined ? { name, enabled: true } : { name, enabled: true, payload };

/**
 * Compiles the choice of a variant: the first with an override for the user, else by weight.
 * @returns a function that returns the same object for the same variant; undefined where no variant has weight
 */
export const compileVariants = (
  variants: readonly EvaluableVariant[],
  groupId: string,
  stickiness: string,
): ((context: EvaluationContext) => Variant) | undefined => {
  const totalWeight = variants.reduce((sum, { weight }) => sum + weight, 0);
  if (totalWeight <= 0) return undefined;
  const bucketOf = variantBuckets(groupId, totalWeight);
  let cumulativeWeight = 0;
  const compiled = variants.map((variant) => {
    cumulativeWeight += variant.weight;
    return { upTo: variant.weight > 0 ? cumulativeWeight : 0, variant: toVariant(variant) };
  });
  const last = compiled.findLast(({ upTo }) => upTo > 0)?.variant as Variant;
  const overrides = variants.flatMap(({ overrides = [] }, nth) =>
    overrides.map((override) => ({ ...override, variant: (compiled[nth] as (typeof compiled)[number]).variant })),
  );
  return (context) => {
    for (const { contextName, values, variant } of overrides) {
      if (values.includes(fieldValue(context, contextName) ?? '')) return variant;
    }
    const bucket = bucketOf(stickyKey(stickiness, context));
    for (const { upTo, variant } of compiled) if (bucket <= upTo) return variant;
    return last;
  };
};
