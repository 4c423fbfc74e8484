import { type Static, Type } from 'typebox';
import { jsonPointer } from './patterns.ts';

/** What one step of a patch can do. */
export const patchOperators = ['add', 'remove', 'replace', 'copy', 'move'] as const;

const isOneOf = (...operators: readonly (typeof patchOperators)[number][]) => ({
  properties: { op: { enum: operators } },
  required: ['op'],
});

/** One step of a patch. The empty path is the whole document, which a step can only replace. */
export const PatchOperation = Type.Object(
  {
    path: Type.String({ ...jsonPointer, description: 'the path of the property to operate on, as a JSON pointer' }),
    op: Type.Enum([...patchOperators], { type: 'string', description: 'what is to be done' }),
    from: Type.Optional(
      Type.String({ ...jsonPointer, description: 'where the value comes from, for `copy` and `move`' }),
    ),
    value: Type.Optional(Type.Unknown({ description: 'the value, for `add` and `replace`' })),
  },
  {
    title: 'patchSchema',
    description: 'One step of a patch.',
    allOf: [
      { if: isOneOf('copy', 'move'), then: { required: ['from'] } },
      { if: isOneOf('copy', 'move', 'remove'), then: { properties: { path: { minLength: 1 } } } },
      {
        if: { properties: { path: { maxLength: 0 } }, required: ['path'] },
        then: { properties: { value: { type: ['object', 'array'] } } },
      },
    ],
  },
);
export type PatchOperation = Static<typeof PatchOperation>;

/** A list of steps that change a document one after the other. */
export const JsonPatch = Type.Array(PatchOperation, {
  title: 'patchesSchema',
  maxItems: 100,
  description: 'The steps, applied one after the other: all of them or none.',
});
export type JsonPatch = Static<typeof JsonPatch>;
