import { Type } from 'typebox';

/** What states are told of. */
export const StateEntityName = Type.Enum(['feature', 'segment']);
