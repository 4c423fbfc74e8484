import { type Static, Type } from 'typebox';
import { defineOperation } from '../operation.ts';
import { FeatureTypePath } from '../paths.ts';
import { Constant, Nullable } from '../schemas.ts';

const lifetimeDays = Nullable(Type.Integer({ minimum: 0, maximum: 1_000_000 }), {
  description: 'the expected lifetime of a feature of this type in days; null: unlimited',
});

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

export const FeatureTypeLifetimeBody = Type.Object(
  { lifetimeDays },
  { title: 'updateFeatureTypeLifetimeSchema', description: 'The expected lifetime of features of a type.' },
);

export const ListFeatureTypes = defineOperation({
  subject: 'call.features.list-feature-types',
  operationId: 'getAllFeatureTypes',
  summary: 'List the feature types',
  description: 'Returns the feature types with the days that a feature of each is expected to live.',
  tag: 'Feature Types',
  http: { method: 'GET', url: '/api/admin/feature-types' },
  permission: 'authenticated',
  reply: FeatureTypeList,
});

/** Emits `feature-type-updated`. */
export const SetFeatureTypeLifetime = defineOperation({
  subject: 'call.features.set-feature-type-lifetime',
  operationId: 'updateFeatureTypeLifetime',
  summary: 'Set the lifetime of a feature type',
  description: 'Sets the lifetime in days; 0 or null for none.',
  tag: 'Feature Types',
  http: { method: 'PUT', url: '/api/admin/feature-types/:id/lifetime' },
  permission: 'ADMIN',
  params: FeatureTypePath,
  body: FeatureTypeLifetimeBody,
  reply: FeatureTypeDescription,
});
