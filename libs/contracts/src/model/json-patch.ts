import { type Static, Type } from 'typebox';

/** What one step of a patch can do. */
export const patchOperators = ['add', 'remove', 'replace', 'copy', 'move'] as const;

/** One step of a patch. */
export const PatchOperation = Type.Object(
  {
    path: Type.String({ description: 'the path of the property to operate on, as a JSON pointer' }),
    op: Type.Enum([...patchOperators], { type: 'string', description: 'what is to be done' }),
    from: Type.Optional(Type.String({ description: 'where the value comes from, for `copy` and `move`' })),
    value: Type.Optional(Type.Unknown({ description: 'the value, for `add` and `replace`' })),
  },
  { title: 'patchSchema', description: 'One step of a patch.' },
);
export type PatchOperation = Static<typeof PatchOperation>;

/** A list of steps that change a document one after the other. */
export const JsonPatch = Type.Array(PatchOperation, {
  title: 'patchesSchema',
  maxItems: 100,
  description: 'The steps, applied one after the other: all of them or none.',
});
export type JsonPatch = Static<typeof JsonPatch>;
