import { weightOf } from './murmur.ts';
import { anyKey, type Situation, valueOf } from './situation.ts';

/** A variant as SDKs know it. */
export interface EvaluatedVariant {
  readonly name: string;
  readonly weight: number;
  readonly stickiness?: string | undefined;
  readonly payload?: { readonly type: string; readonly value: string } | undefined;
  readonly overrides?: readonly { readonly contextName: string; readonly values: readonly string[] }[] | undefined;
}

const keyFor = (stickiness: string, situation: Situation): string => {
  if (stickiness !== 'default') return valueOf(situation, stickiness) ?? anyKey(situation);
  const known = valueOf(situation, 'userId') ?? valueOf(situation, 'sessionId') ?? valueOf(situation, 'remoteAddress');
  return known ?? anyKey(situation);
};

/** The variant that a user gets: one that is meant for them, and else one by the weights; undefined where none has any. */
export const chosenVariant = <V extends EvaluatedVariant>(
  variants: readonly V[],
  groupId: string,
  stickiness: string,
  situation: Situation,
): V | undefined => {
  const weights = variants.reduce((sum, { weight }) => sum + weight, 0);
  if (weights <= 0) return undefined;
  const meant = variants.find(({ overrides = [] }) =>
    overrides.some(({ contextName, values }) => values.includes(valueOf(situation, contextName) ?? '')),
  );
  if (meant !== undefined) return meant;
  const place = weightOf(keyFor(stickiness, situation), groupId, weights);
  let upTo = 0;
  return variants.find(({ weight }) => {
    upTo += weight;
    return weight > 0 && place <= upTo;
  });
};
