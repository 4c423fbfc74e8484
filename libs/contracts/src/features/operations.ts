import { Type } from 'typebox';
import { operationsOf } from '../operation.ts';
import { JsonPatch, optionalPageParameters, writtenTagPattern } from '../schemas.ts';
import {
  CloneFeatureBody,
  CreateFeatureBody,
  Feature,
  FeatureWithoutEnvironments,
  MoveFeatureBody,
  ProjectFeatures,
  SetStaleBody,
  UpdateFeatureBody,
  ValidateFeatureNameBody,
} from './feature.ts';

const defineOperation = operationsOf('Features');

/** Emits `feature-created`, `feature-strategy-add` for each strategy, and `feature-dependency-added` when it has a parent. */
export const CloneFeature = defineOperation({
  subject: 'call.features.clone-feature',
  summary: 'Clone a feature',
  description:
    'Creates a feature like this one, with its strategies, variants and parent, but disabled everywhere and without its tags.',
  http: {
    method: 'POST',
    url: '/api/admin/projects/:projectId/features/:featureName/clone',
    status: 201,
    anyContentType: true,
  },
  permission: 'CREATE_FEATURE',
  body: CloneFeatureBody,
  reply: FeatureWithoutEnvironments,
  errors: [
    'ValidationError',
    'NotFoundError',
    'NameExistsError',
    'PatternError',
    'ExceedsLimitError',
    'InvalidOperationError',
    'ForbiddenError',
    'ArchivedFeatureError',
  ],
});

/** Emits `feature-created`. */
export const CreateFeature = defineOperation({
  subject: 'call.features.create-feature',
  summary: 'Create a feature',
  description: 'Creates a feature in the project. It is disabled in every environment and has no strategies.',
  http: { method: 'POST', url: '/api/admin/projects/:projectId/features', status: 201 },
  permission: 'CREATE_FEATURE',
  body: CreateFeatureBody,
  reply: FeatureWithoutEnvironments,
  errors: [
    'ValidationError',
    'PatternError',
    'ExceedsLimitError',
    'NotFoundError',
    'NameExistsError',
    'InvalidOperationError',
  ],
});

export const GetFeature = defineOperation({
  subject: 'call.features.get-feature',
  summary: 'Get a feature',
  description: 'Returns the feature with its settings in every environment, if it belongs to the project.',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/features/:featureName' },
  permission: 'authenticated',
  query: Type.Object({
    variantEnvironments: Type.Optional(
      Type.String({ description: '`true` adds the variants of each environment; any other value is ignored' }),
    ),
  }),
  reply: Feature,
});

/** Lists the features of a project that are not archived: all, or those with any of the given tags and a given prefix of their name. */
export const ListFeatures = defineOperation({
  subject: 'call.features.list-features',
  operationId: 'getFeatures',
  summary: 'List the features of a project',
  description:
    'Returns every feature of the project that is not archived and matches the query. An unknown project has none.',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/features' },
  isHeavy: true,
  permission: 'authenticated',
  query: Type.Object({
    tag: Type.Optional(
      Type.Array(
        Type.String({
          maxLength: 101,
          documentedPattern: writtenTagPattern,
          description: 'a tag: `<type>:<value>`',
        }),
        {
          maxItems: 50,
          description: 'only features with this tag; repeated, features with any of them',
        },
      ),
    ),
    namePrefix: Type.Optional(
      Type.String({ maxLength: 100, description: 'only features whose name begins with this; case-insensitive' }),
    ),
    ...optionalPageParameters('features'),
  }),
  reply: ProjectFeatures,
  errors: ['ValidationError'],
});

/** Emits `feature-project-change`. */
export const MoveFeature = defineOperation({
  subject: 'call.features.move-feature',
  operationId: 'changeProject',
  summary: 'Move a feature to another project',
  description:
    'Both projects must have the same environments, and the feature no dependencies. Where either project has protected environments, the caller must have the permission SKIP_CHANGE_REQUEST in each of them.',
  http: { method: 'POST', url: '/api/admin/projects/:projectId/features/:featureName/changeProject' },
  ifMatch: 'feature',
  permission: 'MOVE_FEATURE_TOGGLE',
  body: MoveFeatureBody,
  errors: ['ValidationError', 'NotFoundError', 'IncompatibleProjectError', 'ForbiddenError', 'InvalidOperationError'],
});

/** Emits `feature-metadata-updated`, then `feature-stale-on` or `feature-stale-off` when that changed. */
export const PatchFeature = defineOperation({
  subject: 'call.features.patch-feature',
  summary: 'Patch a feature',
  description:
    'Applies JSON patch operations to the members of a feature that an update can set, such as its description.',
  http: { method: 'PATCH', url: '/api/admin/projects/:projectId/features/:featureName' },
  ifMatch: 'feature',
  permission: 'UPDATE_FEATURE',
  body: JsonPatch,
  reply: FeatureWithoutEnvironments,
  errors: ['ValidationError', 'NotFoundError', 'OperationDeniedError'],
});

/** Emits `feature-stale-on` or `feature-stale-off` for each feature that changed. */
export const SetStale = defineOperation({
  subject: 'call.features.set-stale',
  operationId: 'staleFeatures',
  summary: 'Set whether features are stale',
  description: 'Marks features of a project as stale or not. Names that do not exist are ignored.',
  http: { method: 'POST', url: '/api/admin/projects/:projectId/stale', status: 202, takesLong: true },
  permission: 'UPDATE_FEATURE',
  body: SetStaleBody,
  errors: ['ValidationError', 'InvalidOperationError'],
});

/** Emits `feature-metadata-updated`. */
export const UpdateFeature = defineOperation({
  subject: 'call.features.update-feature',
  summary: 'Update a feature',
  description: 'Updates the properties in the body. Omitted properties do not change. It neither archives nor revives.',
  http: { method: 'PUT', url: '/api/admin/projects/:projectId/features/:featureName' },
  ifMatch: 'feature',
  permission: 'UPDATE_FEATURE',
  body: UpdateFeatureBody,
  reply: FeatureWithoutEnvironments,
});

export const ValidateFeatureName = defineOperation({
  subject: 'call.features.validate-feature-name',
  operationId: 'validateFeature',
  summary: 'Validate the name of a feature',
  description: 'Validates the name of a new feature. Nothing is stored.',
  http: { method: 'POST', url: '/api/admin/features/validate' },
  permission: 'authenticated',
  readsOnly: true,
  body: ValidateFeatureNameBody,
  errors: ['ValidationError', 'NameExistsError', 'PatternError'],
});

/** Emits `feature-favorited`. */
export const AddFavoriteFeature = defineOperation({
  subject: 'call.features.add-favorite-feature',
  summary: 'Add a feature to the favourites',
  description: 'Adds a feature to the favourites of the caller.',
  http: { method: 'POST', url: '/api/admin/projects/:projectId/features/:featureName/favorites', anyContentType: true },
  permission: 'authenticated',
});

/** Emits `project-favorited`. */
export const AddFavoriteProject = defineOperation({
  subject: 'call.features.add-favorite-project',
  summary: 'Add a project to the favourites',
  description: 'Adds a project to the favourites of the caller.',
  tag: 'Projects',
  http: { method: 'POST', url: '/api/admin/projects/:projectId/favorites', anyContentType: true },
  permission: 'authenticated',
});

/** Emits `feature-unfavorited`. */
export const RemoveFavoriteFeature = defineOperation({
  subject: 'call.features.remove-favorite-feature',
  summary: 'Remove a feature from the favourites',
  description: 'Removes a feature from the favourites of the caller.',
  http: {
    method: 'DELETE',
    url: '/api/admin/projects/:projectId/features/:featureName/favorites',
    anyContentType: true,
  },
  permission: 'authenticated',
});

/** Emits `project-unfavorited`. */
export const RemoveFavoriteProject = defineOperation({
  subject: 'call.features.remove-favorite-project',
  summary: 'Remove a project from the favourites',
  description: 'Removes a project from the favourites of the caller.',
  tag: 'Projects',
  http: { method: 'DELETE', url: '/api/admin/projects/:projectId/favorites', anyContentType: true },
  permission: 'authenticated',
});

/**
 * Lists the people whose features these are, who created them or have them as favourites, for the service that tells them. Features that do not
 * exist are left out.
 */
export const ListFeatureFollowers = defineOperation({
  subject: 'call.features.list-feature-followers',
  summary: 'List who created features, and whose favourites they are',
  idempotent: true,
  body: Type.Object({ names: Type.Array(Type.String(), { maxItems: 250 }) }),
  reply: Type.Object({
    features: Type.Array(
      Type.Object({
        name: Type.String(),
        createdBy: Type.Integer(),
        favoriteOf: Type.Array(Type.Integer(), { description: 'at most 500 users' }),
      }),
    ),
    productionEnvironments: Type.Array(Type.String(), { description: 'the environments of the type `production`' }),
  }),
  tag: 'Internal',
});
