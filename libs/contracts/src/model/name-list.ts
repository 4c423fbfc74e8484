import { Type } from 'typebox';

/** Names of features or variants, as a whole reply. */
export const NameList = Type.Array(Type.String(), { description: 'names, in order' });
