import { type Static, Type } from 'typebox';
import { operationsOf } from '../operation.ts';
import { FeatureLinkPath } from '../paths.ts';
import { Nullable } from '../schemas.ts';

const defineOperation = operationsOf('Features');

const title = Type.Optional(
  Nullable(Type.String({ maxLength: 255 }), { description: 'the title, shown instead of the address' }),
);

/** A URL that is attached to a feature, such as its ticket. */
export const FeatureLink = Type.Object(
  {
    id: Type.String({ description: 'the id of the link' }),
    url: Type.String({ description: 'the address' }),
    title,
  },
  { title: 'featureLinkSchema', description: 'An address that belongs to a feature, such as its ticket.' },
);
export type FeatureLink = Static<typeof FeatureLink>;

export const FeatureLinkBody = Type.Object(
  {
    url: Type.String({
      minLength: 1,
      maxLength: 2_000,
      description: 'an http or https address; one without a scheme is taken as https',
    }),
    title,
  },
  { title: 'linkSchema', description: 'The address and the title of a link of a feature.' },
);
export type FeatureLinkBody = Static<typeof FeatureLinkBody>;

/** Emits `feature-link-added`. */
export const AddFeatureLink = defineOperation({
  subject: 'call.features.add-feature-link',
  operationId: 'createFeatureLink',
  summary: 'Add a link to a feature',
  description: 'Adds a link to a feature, which has at most ten.',
  http: { method: 'POST', url: '/api/admin/projects/:projectId/features/:featureName/link', status: 204 },
  ifMatch: 'feature',
  permission: 'UPDATE_FEATURE',
  body: FeatureLinkBody,
  errors: ['ValidationError', 'NotFoundError', 'OperationDeniedError'],
});

/** Emits `feature-link-removed`. */
export const RemoveFeatureLink = defineOperation({
  subject: 'call.features.remove-feature-link',
  operationId: 'deleteFeatureLink',
  summary: 'Remove a link from a feature',
  http: {
    method: 'DELETE',
    url: '/api/admin/projects/:projectId/features/:featureName/link/:linkId',
    status: 204,
    anyContentType: true,
  },
  ifMatch: 'feature',
  permission: 'UPDATE_FEATURE',
  params: FeatureLinkPath,
});

/** Emits `feature-link-updated`. */
export const UpdateFeatureLink = defineOperation({
  subject: 'call.features.update-feature-link',
  summary: 'Update a link of a feature',
  description: 'Replaces the address and the title of a link.',
  http: { method: 'PUT', url: '/api/admin/projects/:projectId/features/:featureName/link/:linkId', status: 204 },
  ifMatch: 'feature',
  permission: 'UPDATE_FEATURE',
  params: FeatureLinkPath,
  body: FeatureLinkBody,
});
