import { Type } from 'typebox';
import { Nullable } from '../model/schema.ts';

/** The feature that a change is about. */
export const FeatureName = Type.String({
  minLength: 1,
  description: 'the name of the feature that the change applies to',
});

/** A change of a segment is about no feature; what a client sends nevertheless is not looked at. */
export const NoFeature = Type.Optional(Nullable(Type.String(), { description: 'not looked at' }));

/** An action that says it all comes without a payload, or with an empty one. */
export const NoPayload = Type.Optional(
  Nullable(Type.Object({}, { additionalProperties: false }), { description: 'none is needed' }),
);
