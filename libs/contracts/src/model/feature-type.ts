import { type Static, Type } from 'typebox';
import { Constant, Nullable } from './schema.ts';

const lifetimeDays = Nullable(Type.Integer({ minimum: 0, maximum: 1_000_000 }), {
  description: 'for how many days a feature of this type is expected to live; null: for ever',
});

/** What a feature can be for, and how long it is expected to live then. */
export const FeatureTypeDescription = Type.Object(
  {
    id: Type.String({ description: 'the id of the feature type' }),
    name: Type.String({ description: 'the name for people' }),
    description: Type.String({ description: 'when to use it' }),
    lifetimeDays,
  },
  { title: 'featureTypeSchema', description: 'What a feature can be for.' },
);
export type FeatureTypeDescription = Static<typeof FeatureTypeDescription>;

export const FeatureTypeList = Type.Object(
  {
    version: Constant(1, 'the version of this format'),
    types: Type.Array(FeatureTypeDescription, { description: 'the feature types' }),
  },
  { title: 'featureTypesSchema', description: 'The feature types.' },
);
export type FeatureTypeList = Static<typeof FeatureTypeList>;

export const FeatureTypeLifetimeBody = Type.Object(
  { lifetimeDays },
  { title: 'updateFeatureTypeLifetimeSchema', description: 'How long features of a type are expected to live.' },
);
export type FeatureTypeLifetimeBody = Static<typeof FeatureTypeLifetimeBody>;
