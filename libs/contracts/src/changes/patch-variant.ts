import { type Static, Type } from 'typebox';
import { FeatureVariant } from '../model/features/variant.ts';
import { FeatureName } from './shared-properties.ts';

/** Replaces the variants of a feature in the environment. */
export const PatchVariantChange = Type.Object(
  {
    action: Type.Literal('patchVariant'),
    feature: FeatureName,
    payload: Type.Object({ variants: Type.Array(FeatureVariant, { description: 'the new variants' }) }),
  },
  { title: 'patchVariantChangeSchema', description: 'Replaces the variants of a feature in the environment.' },
);
export type PatchVariantChange = Static<typeof PatchVariantChange>;
