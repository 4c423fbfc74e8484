import { type Static, Type } from 'typebox';
import { FeatureName, NoPayload } from './members.ts';

/** Makes a feature depend on no other. */
export const DeleteDependency = Type.Object(
  {
    action: Type.Literal('deleteDependency'),
    feature: FeatureName,
    payload: NoPayload,
  },
  { title: 'deleteDependencyChangeSchema', description: 'Makes a feature depend on no other.' },
);
export type DeleteDependency = Static<typeof DeleteDependency>;
