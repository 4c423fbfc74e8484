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

/** The text whose hash chooses the variant of a user. */
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
 * Compiles the choice of a variant: the variant of the first override that matches the user, otherwise a variant by weight.
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
    // Buckets begin at 1, so a variant without weight has none.
    return { lastBucket: variant.weight > 0 ? cumulativeWeight : 0, variant: toVariant(variant) };
  });
  const lastVariant = compiled.findLast(({ lastBucket }) => lastBucket > 0)?.variant as Variant;
  const overrides = variants.flatMap(({ overrides = [] }, index) =>
    overrides.map((override) => ({ ...override, variant: (compiled[index] as (typeof compiled)[number]).variant })),
  );
  return (context) => {
    for (const { contextName, values, variant } of overrides) {
      if (values.includes(fieldValue(context, contextName) ?? '')) return variant;
    }
    const bucket = bucketOf(stickyKey(stickiness, context));
    for (const { lastBucket, variant } of compiled) if (bucket <= lastBucket) return variant;
    return lastVariant;
  };
};
