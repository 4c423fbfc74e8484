import { type Static, Type } from 'typebox';

/** A name to be checked. */
export const NameBody = Type.Object(
  { name: Type.String({ description: 'the name to check' }) },
  { title: 'nameSchema', description: 'A name to be checked.' },
);
export type NameBody = Static<typeof NameBody>;

export const Names = Type.Array(Type.String(), { description: 'names, in order' });
export type Names = Static<typeof Names>;

export const YesOrNo = Type.Boolean({ description: 'the answer' });
export type YesOrNo = Static<typeof YesOrNo>;
