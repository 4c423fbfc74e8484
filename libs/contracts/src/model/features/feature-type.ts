import { type Static, Type } from 'typebox';
import { Constant, Nullable } from '../schema.ts';

const lifetimeDays = Nullable(Type.Integer({ minimum: 0, maximum: 1_000_000 }), {
  description: 'the expected lifetime of a feature of this type in days; null: unlimited',
});

/** A type of features, with the expected lifetime of its features. */
export const FeatureTypeDescription = Type.Object(
  {
    id: Type.String({ description: 'the id of the feature type' }),
    name: Type.String({ description: 'the name for people' }),
    description: Type.String({ description: 'when to use it' }),
    lifetimeDays,
  },
  { title: 'featureTypeSchema', description: 'A purpose of features, with their expected lifetime.' },
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
  { title: 'updateFeatureTypeLifetimeSchema', description: 'The expected lifetime of features of a type.' },
);
export type FeatureTypeLifetimeBody = Static<typeof FeatureTypeLifetimeBody>;
