import { type Static, Type } from 'typebox';
import { jsonPointer } from './text-schemas.ts';

/** The operations of a JSON Patch that are supported. */
export const patchOperators = ['add', 'remove', 'replace', 'copy', 'move'] as const;

const isOneOf = (...operators: readonly (typeof patchOperators)[number][]) => ({
  properties: { op: { enum: operators } },
  required: ['op'],
});

/** One operation of a JSON Patch. The empty path is that of the whole document, which cannot be copied to, moved to or removed. */
export const PatchOperation = Type.Object(
  {
    path: Type.String({ ...jsonPointer, description: 'the path of the property to operate on, as a JSON pointer' }),
    op: Type.Enum([...patchOperators], { type: 'string', description: 'the action' }),
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
        if: { properties: { path: { const: '' } }, required: ['path'] },
        then: { properties: { value: { type: ['object', 'array'] } } },
      },
    ],
  },
);
export type PatchOperation = Static<typeof PatchOperation>;

/** Operations of a JSON Patch, applied in their order. */
export const JsonPatch = Type.Array(PatchOperation, {
  title: 'patchesSchema',
  maxItems: 100,
  description: 'The steps, applied one after the other: all of them or none.',
});
export type JsonPatch = Static<typeof JsonPatch>;
