import { Type } from 'typebox';

/** The entity types whose snapshots can be read. */
export const StateEntityName = Type.Enum(['feature', 'segment']);
