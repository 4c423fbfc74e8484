import { Type } from 'typebox';
import { Nullable } from '../model/schema.ts';

/** A change of a segment is about no feature; what a client sends nevertheless is not looked at. */
export const NoFeature = Type.Optional(Nullable(Type.String(), { description: 'not looked at' }));
