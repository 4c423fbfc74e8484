import { type Permission, permissionIds } from './permissions.ts';

/** The level at which a permission is granted: the whole instance (`root`), a project, or an environment of a project. */
export type PermissionType = 'root' | 'project' | 'environment';

/** A permission as the catalogue describes it. */
interface PermissionDescription {
  readonly type: PermissionType;
  readonly displayName: string;
}

function entriesOfType(
  type: PermissionType,
  displayNames: Readonly<Partial<Record<Permission, string>>>,
): [Permission, PermissionDescription][] {
  return Object.entries(displayNames).map(([name, displayName]) => [name as Permission, { type, displayName }]);
}

/** The permissions that custom roles can grant: all except ADMIN and those of SDK tokens. */
export const permissionCatalogue: ReadonlyMap<Permission, PermissionDescription> = new Map([
  ...entriesOfType('root', {
    CREATE_PROJECT: 'Create projects',
    CREATE_SEGMENT: 'Create segments',
    UPDATE_SEGMENT: 'Edit segments',
    DELETE_SEGMENT: 'Delete segments',
    CREATE_CONTEXT_FIELD: 'Create context fields',
    UPDATE_CONTEXT_FIELD: 'Update context fields',
    DELETE_CONTEXT_FIELD: 'Delete context fields',
    CREATE_STRATEGY: 'Create activation strategies',
    UPDATE_STRATEGY: 'Update activation strategies',
    DELETE_STRATEGY: 'Delete activation strategies',
    CREATE_TAG_TYPE: 'Create tag types',
    UPDATE_TAG_TYPE: 'Update tag types',
    DELETE_TAG_TYPE: 'Delete tag types',
    CREATE_ADDON: 'Create integrations',
    UPDATE_ADDON: 'Update integrations',
    DELETE_ADDON: 'Delete integrations',
    READ_CLIENT_API_TOKEN: 'Read client API tokens',
    // A token for all projects gives access to private projects as well (ADR 17).
    CREATE_CLIENT_API_TOKEN: 'Create client API tokens, also for all projects and so for private ones',
    UPDATE_CLIENT_API_TOKEN: 'Update client API tokens',
    DELETE_CLIENT_API_TOKEN: 'Delete client API tokens',
    READ_FRONTEND_API_TOKEN: 'Read frontend API tokens',
    CREATE_FRONTEND_API_TOKEN: 'Create frontend API tokens, also for all projects and so for private ones',
    UPDATE_FRONTEND_API_TOKEN: 'Update frontend API tokens',
    DELETE_FRONTEND_API_TOKEN: 'Delete frontend API tokens',
    UPDATE_APPLICATION: 'Update applications',
    READ_ROLE: 'Read roles',
  }),
  ...entriesOfType('project', {
    CREATE_FEATURE: 'Create feature flags',
    UPDATE_FEATURE: 'Update feature flags',
    DELETE_FEATURE: 'Archive and delete feature flags',
    MOVE_FEATURE_TOGGLE: 'Move feature flags to another project',
    UPDATE_FEATURE_DEPENDENCY: 'Update feature dependencies',
    UPDATE_FEATURE_VARIANTS: 'Update variants of all environments',
    UPDATE_PROJECT: 'Update the project',
    DELETE_PROJECT: 'Delete the project',
    PROJECT_USER_ACCESS_READ: 'Read who has access to the project',
    PROJECT_USER_ACCESS_WRITE: 'Change who has access to the project',
    PROJECT_DEFAULT_STRATEGY_READ: 'Read the default strategy',
    PROJECT_DEFAULT_STRATEGY_WRITE: 'Change the default strategy',
    PROJECT_CHANGE_REQUEST_READ: 'Read the settings of change requests',
    PROJECT_CHANGE_REQUEST_WRITE: 'Change the settings of change requests',
    PROJECT_SETTINGS_READ: 'Read the settings of the project',
    PROJECT_SETTINGS_WRITE: 'Change the settings of the project',
    READ_PROJECT_API_TOKEN: 'Read API tokens of the project',
    CREATE_PROJECT_API_TOKEN: 'Create API tokens of the project',
    DELETE_PROJECT_API_TOKEN: 'Delete API tokens of the project',
    UPDATE_PROJECT_SEGMENT: 'Change segments of the project',
  }),
  ...entriesOfType('environment', {
    CREATE_FEATURE_STRATEGY: 'Create activation strategies of feature flags',
    UPDATE_FEATURE_STRATEGY: 'Update activation strategies of feature flags',
    DELETE_FEATURE_STRATEGY: 'Delete activation strategies of feature flags',
    UPDATE_FEATURE_ENVIRONMENT: 'Enable and disable feature flags',
    UPDATE_FEATURE_ENVIRONMENT_VARIANTS: 'Update variants of feature flags',
    APPROVE_CHANGE_REQUEST: 'Approve and reject change requests',
    APPLY_CHANGE_REQUEST: 'Apply change requests',
    SKIP_CHANGE_REQUEST: 'Change without a change request',
  }),
]);

/** The permissions of one type, in the order of the catalogue. */
export function permissionsOfType(wanted: PermissionType): Permission[] {
  return [...permissionCatalogue].filter(([, { type }]) => type === wanted).map(([name]) => name);
}

/** Whether the permission is one of the whole instance, which no role of a project and no token for a project grants. */
export function isRootPermission(name: Permission): boolean {
  return name === 'ADMIN' || permissionCatalogue.get(name)?.type === 'root';
}

/**
 * A permission as responses describe it. Of the permissions outside the catalogue only ADMIN reaches a response, since predefined roles
 * grant it: it is the fallback for all of them.
 */
export function describePermission(name: Permission) {
  const { type, displayName } = permissionCatalogue.get(name) ?? { type: 'root' as const, displayName: 'Admin' };
  return { id: permissionIds[name], name, displayName, type };
}
