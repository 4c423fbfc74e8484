import { type Static, Type } from 'typebox';
import { FeatureName, NoPayload } from './shared-properties.ts';

/** Archives a feature, in every environment. */
export const ArchiveFeatureChange = Type.Object(
  {
    action: Type.Literal('archiveFeature'),
    feature: FeatureName,
    payload: NoPayload,
  },
  { title: 'archiveFeatureChangeSchema', description: 'Archives a feature, in every environment.' },
);
export type ArchiveFeatureChange = Static<typeof ArchiveFeatureChange>;
