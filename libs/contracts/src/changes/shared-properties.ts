import { Type } from 'typebox';
import { Nullable } from '../model/schema.ts';

/** The feature that a change is about. */
export const FeatureName = Type.String({
  minLength: 1,
  description: 'the name of the feature that the change applies to',
});

/** A change of a segment has no feature; a value that a client sends is ignored. */
export const NoFeature = Type.Optional(Nullable(Type.String(), { description: 'ignored' }));

/** The payload of actions without parameters: absent or empty. */
export const NoPayload = Type.Optional(
  Nullable(Type.Object({}, { additionalProperties: false }), { description: 'none is needed' }),
);
