import { type Static, Type } from 'typebox';
import { FeatureName } from './shared-properties.ts';

/** Makes a feature depend on another, its parent, and on that one only. */
export const AddDependencyChange = Type.Object(
  {
    action: Type.Literal('addDependency'),
    feature: FeatureName,
    payload: Type.Object({
      feature: Type.String({ minLength: 1, description: 'the name of the parent feature' }),
      enabled: Type.Optional(
        Type.Boolean({
          default: true,
          description: 'whether the parent must be enabled; when false the variants are ignored; default: true',
        }),
      ),
      variants: Type.Optional(
        Type.Array(Type.String(), {
          description: 'the variants that the parent must resolve to; leave empty to check only `enabled`',
        }),
      ),
    }),
  },
  {
    title: 'addDependencyChangeSchema',
    description: 'Sets the parent of a feature, the only feature that it depends on.',
  },
);
export type AddDependencyChange = Static<typeof AddDependencyChange>;
