import { Type } from 'typebox';

/** The feature that a change is about. */
export const FeatureName = Type.String({
  minLength: 1,
  description: 'the name of the feature that the change applies to',
});
