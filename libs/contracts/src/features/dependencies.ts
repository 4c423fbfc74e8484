import { Type, type Static } from 'typebox';
import { operationsOf } from '../operation.ts';
import { DependencyPath } from '../paths.ts';
import { NameList } from '../schemas.ts';

const defineOperation = operationsOf('Dependencies');

export const Dependency = Type.Object(
  {
    feature: Type.String({ description: 'the name of the parent feature' }),
    enabled: Type.Optional(Type.Boolean({ description: 'whether the parent must be enabled' })),
    variants: Type.Optional(
      Type.Array(Type.String(), {
        description: 'the variants that the parent must resolve to; only for an enabled parent',
      }),
    ),
  },
  { title: 'dependencySchema', description: 'A feature that this one depends on, and how it must evaluate.' },
);
export type Dependency = Static<typeof Dependency>;

export const AddDependencyBody = Type.Object(
  {
    feature: Type.String({ minLength: 1, description: 'the name of the parent feature' }),
    enabled: Type.Optional(Type.Boolean({ description: 'whether the parent must be enabled; default: true' })),
    variants: Type.Optional(
      Type.Array(Type.String(), {
        maxItems: 1_000,
        description: 'the variants that the parent must resolve to; only for an enabled parent',
      }),
    ),
  },
  { title: 'createDependentFeatureSchema', description: 'A parent that a feature is to depend on.' },
);
export type AddDependencyBody = Static<typeof AddDependencyBody>;

/** Makes a feature depend on another. Emits `feature-dependency-added`, after `feature-dependency-removed` when another parent is replaced. */
export const AddDependency = defineOperation({
  subject: 'call.features.add-dependency',
  operationId: 'addFeatureDependency',
  summary: 'Add a dependency',
  description: 'A feature has one parent at most: a new parent replaces the earlier one.',
  http: { method: 'POST', url: '/api/admin/projects/:projectId/features/:featureName/dependencies' },
  ifMatch: 'feature',
  permission: 'UPDATE_FEATURE_DEPENDENCY',
  body: AddDependencyBody,
  errors: ['ValidationError', 'NotFoundError', 'InvalidOperationError'],
});

export const HasDependencies = defineOperation({
  subject: 'call.features.has-dependencies',
  operationId: 'checkDependenciesExist',
  summary: 'Check whether any dependency exists',
  description: 'Returns whether any feature depends on another.',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/dependencies' },
  permission: 'authenticated',
  reply: Type.Boolean({ description: 'whether any feature depends on another' }),
  errors: [],
});

export const ListParentVariants = defineOperation({
  subject: 'call.features.list-parent-variants',
  operationId: 'listParentVariantOptions',
  summary: 'List the variants of a parent',
  description:
    'Returns the names of the variants that a dependency on this feature can require; none for an unknown feature.',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/features/:featureName/parent-variants' },
  permission: 'authenticated',
  reply: NameList,
  errors: [],
});

export const ListPossibleParents = defineOperation({
  subject: 'call.features.list-possible-parents',
  operationId: 'listParentOptions',
  summary: 'List possible parents',
  description: 'Returns the names of the features that this one could depend on; none for an unknown feature.',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/features/:featureName/parents' },
  isHeavy: true,
  permission: 'authenticated',
  reply: NameList,
  errors: [],
});

/** Emits `feature-dependencies-removed`. */
export const RemoveDependencies = defineOperation({
  subject: 'call.features.remove-dependencies',
  operationId: 'deleteFeatureDependencies',
  summary: 'Remove all dependencies',
  description: 'Removes every dependency of a feature.',
  http: {
    method: 'DELETE',
    url: '/api/admin/projects/:projectId/features/:featureName/dependencies',
    anyContentType: true,
  },
  ifMatch: 'feature',
  permission: 'UPDATE_FEATURE_DEPENDENCY',
});

/** Emits `feature-dependency-removed`. */
export const RemoveDependency = defineOperation({
  subject: 'call.features.remove-dependency',
  operationId: 'deleteFeatureDependency',
  summary: 'Remove a dependency',
  description: 'Removes the dependency on one parent.',
  http: {
    method: 'DELETE',
    url: '/api/admin/projects/:projectId/features/:featureName/dependencies/:parent',
    anyContentType: true,
  },
  ifMatch: 'feature',
  permission: 'UPDATE_FEATURE_DEPENDENCY',
  params: DependencyPath,
});
