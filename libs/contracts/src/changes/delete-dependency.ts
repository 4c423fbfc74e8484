import { type Static, Type } from 'typebox';
import { FeatureName, NoPayload } from './shared-properties.ts';

/** Removes the dependency of a feature. */
export const DeleteDependencyChange = Type.Object(
  {
    action: Type.Literal('deleteDependency'),
    feature: FeatureName,
    payload: NoPayload,
  },
  { title: 'deleteDependencyChangeSchema', description: 'Removes the dependency of a feature.' },
);
export type DeleteDependencyChange = Static<typeof DeleteDependencyChange>;
