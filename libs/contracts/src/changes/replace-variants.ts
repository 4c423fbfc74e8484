import { type Static, Type } from 'typebox';
import { FeatureVariant } from '../model/features/variant.ts';
import { FeatureName } from './shared-properties.ts';

/** Replaces the variants of a feature in the environment. */
export const ReplaceVariants = Type.Object(
  {
    action: Type.Literal('patchVariant'),
    feature: FeatureName,
    payload: Type.Object({ variants: Type.Array(FeatureVariant, { description: 'the new variants' }) }),
  },
  { title: 'patchVariantChangeSchema', description: 'Replaces the variants of a feature in the environment.' },
);
export type ReplaceVariants = Static<typeof ReplaceVariants>;
