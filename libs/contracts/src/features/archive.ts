import { Type } from 'typebox';
import { operationsOf } from '../operation.ts';
import { FeatureNamesBody, ProjectFeatures } from './feature.ts';

const defineOperation = operationsOf('Archive');

export const ArchiveValidation = Type.Object(
  {
    parentsWithChildFeatures: Type.Array(Type.String(), {
      description: 'those that features outside the list depend on',
    }),
    hasDeletedDependencies: Type.Boolean({ description: 'whether dependencies would be removed' }),
  },
  { title: 'validateArchiveFeaturesSchema', description: 'The reasons why features cannot be archived.' },
);

/** Emits `feature-archived`, after `feature-dependencies-removed` if it had any. */
export const ArchiveFeature = defineOperation({
  subject: 'call.features.archive-feature',
  summary: 'Archive a feature',
  description: 'Archives a feature in every environment. It can be revived; its name stays reserved.',
  tag: 'Features',
  http: {
    method: 'DELETE',
    url: '/api/admin/projects/:projectId/features/:featureName',
    status: 202,
    anyContentType: true,
  },
  ifMatch: 'feature',
  permission: 'DELETE_FEATURE',
  errors: ['InvalidOperationError', 'NotFoundError'],
});

/** Emits `feature-archived` for each, after `feature-dependencies-removed` when it had any. */
export const ArchiveFeatures = defineOperation({
  subject: 'call.features.archive-features',
  summary: 'Archive features',
  description: 'Archives features of a project, all or none.',
  http: { method: 'POST', url: '/api/admin/projects/:projectId/archive', status: 202, takesLong: true },
  permission: 'DELETE_FEATURE',
  body: FeatureNamesBody,
  errors: ['ValidationError', 'InvalidOperationError'],
});

/** Emits `feature-deleted`. */
export const DeleteFeature = defineOperation({
  subject: 'call.features.delete-feature',
  summary: 'Delete an archived feature for good',
  description: 'Deletes an archived feature; its name becomes free. One that is not archived stays.',
  http: { method: 'DELETE', url: '/api/admin/archive/:featureName', anyContentType: true },
  permission: 'DELETE_FEATURE',
});

/** Emits `feature-deleted` for each. */
export const DeleteFeatures = defineOperation({
  subject: 'call.features.delete-features',
  summary: 'Delete archived features for good',
  description: 'Deletes the archived ones among the features that are named; their names become free.',
  http: { method: 'POST', url: '/api/admin/projects/:projectId/delete', anyContentType: true, takesLong: true },
  permission: 'DELETE_FEATURE',
  body: FeatureNamesBody,
  errors: ['ValidationError', 'InvalidOperationError'],
});

export const ListArchivedFeaturesOfProject = defineOperation({
  subject: 'call.features.list-archived-features-of-project',
  operationId: 'getArchivedFeaturesByProjectId',
  summary: 'List archived features of a project',
  description: 'Returns every archived feature of the project.',
  http: { method: 'GET', url: '/api/admin/archive/features/:projectId' },
  isHeavy: true,
  permission: 'authenticated',
  reply: ProjectFeatures,
  errors: [],
});

export const ListArchivedFeatures = defineOperation({
  subject: 'call.features.list-archived-features',
  operationId: 'getArchivedFeatures',
  summary: 'List archived features',
  description: 'Returns every archived feature.',
  http: { method: 'GET', url: '/api/admin/archive/features' },
  isHeavy: true,
  permission: 'authenticated',
  reply: ProjectFeatures,
});

/** Emits `feature-revived`. */
export const ReviveFeature = defineOperation({
  subject: 'call.features.revive-feature',
  summary: 'Revive a feature',
  description: 'Brings an archived feature back, disabled in every environment.',
  http: { method: 'POST', url: '/api/admin/archive/revive/:featureName', anyContentType: true },
  permission: 'UPDATE_FEATURE',
  errors: ['NotFoundError', 'ConflictError', 'InvalidOperationError', 'ExceedsLimitError'],
});

/** Emits `feature-revived` for each. */
export const ReviveFeatures = defineOperation({
  subject: 'call.features.revive-features',
  summary: 'Revive features',
  description: 'Brings archived features of a project back, disabled in every environment.',
  http: { method: 'POST', url: '/api/admin/projects/:projectId/revive', anyContentType: true, takesLong: true },
  permission: 'UPDATE_FEATURE',
  body: FeatureNamesBody,
  errors: ['ValidationError', 'NotFoundError', 'ConflictError', 'InvalidOperationError', 'ExceedsLimitError'],
});

export const ValidateArchive = defineOperation({
  subject: 'call.features.validate-archive',
  operationId: 'validateArchiveFeatures',
  summary: 'Check whether features can be archived',
  description: 'Names the features that others depend on.',
  http: { method: 'POST', url: '/api/admin/projects/:projectId/archive/validate' },
  permission: 'DELETE_FEATURE',
  readsOnly: true,
  body: FeatureNamesBody,
  reply: ArchiveValidation,
  errors: ['ValidationError'],
});
