import { Type } from 'typebox';
import { Nullable } from '../model/schema.ts';

/** An action that says it all comes without a payload, or with an empty one. */
export const NoPayload = Type.Optional(
  Nullable(Type.Object({}, { additionalProperties: false }), { description: 'none is needed' }),
);
