import { type EvaluationContext, fieldValue, randomKey } from './evaluation-context.ts';
import { variantBucket } from './murmur-hash.ts';

/** A variant as SDKs receive it. */
export interface EvaluatedVariant {
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

/** The variant of a user: the first with an override for them, else by weight; undefined where no variant has weight. */
export const selectVariant = <V extends EvaluatedVariant>(
  variants: readonly V[],
  groupId: string,
  stickiness: string,
  context: EvaluationContext,
): V | undefined => {
  const totalWeight = variants.reduce((sum, { weight }) => sum + weight, 0);
  if (totalWeight <= 0) return undefined;
  const override = variants.find(({ overrides = [] }) =>
    overrides.some(({ contextName, values }) => values.includes(fieldValue(context, contextName) ?? '')),
  );
  if (override !== undefined) return override;
  const bucket = variantBucket(stickyKey(stickiness, context), groupId, totalWeight);
  let cumulativeWeight = 0;
  return variants.find(({ weight }) => {
    cumulativeWeight += weight;
    return weight > 0 && bucket <= cumulativeWeight;
  });
};
