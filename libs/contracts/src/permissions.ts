import { type Static, Type } from 'typebox';
import { noAccess, refusal } from './errors.ts';
import { type Access, permissionsFor } from './operation.ts';

/** Every permission, spelled as in Unleash. */
export const permissions = [
  'ADMIN',
  'CREATE_FEATURE',
  'UPDATE_FEATURE',
  'DELETE_FEATURE',
  'MOVE_FEATURE_TOGGLE',
  'UPDATE_FEATURE_DEPENDENCY',
  'UPDATE_FEATURE_VARIANTS',
  'CREATE_FEATURE_STRATEGY',
  'UPDATE_FEATURE_STRATEGY',
  'DELETE_FEATURE_STRATEGY',
  'UPDATE_FEATURE_ENVIRONMENT',
  'UPDATE_FEATURE_ENVIRONMENT_VARIANTS',
  'APPROVE_CHANGE_REQUEST',
  'APPLY_CHANGE_REQUEST',
  'SKIP_CHANGE_REQUEST',
  'CREATE_PROJECT',
  'UPDATE_PROJECT',
  'DELETE_PROJECT',
  'PROJECT_USER_ACCESS_READ',
  'PROJECT_USER_ACCESS_WRITE',
  'PROJECT_DEFAULT_STRATEGY_READ',
  'PROJECT_DEFAULT_STRATEGY_WRITE',
  'PROJECT_CHANGE_REQUEST_READ',
  'PROJECT_CHANGE_REQUEST_WRITE',
  'PROJECT_SETTINGS_READ',
  'PROJECT_SETTINGS_WRITE',
  'READ_PROJECT_API_TOKEN',
  'CREATE_PROJECT_API_TOKEN',
  'DELETE_PROJECT_API_TOKEN',
  'CREATE_SEGMENT',
  'UPDATE_SEGMENT',
  'DELETE_SEGMENT',
  'UPDATE_PROJECT_SEGMENT',
  'CREATE_CONTEXT_FIELD',
  'UPDATE_CONTEXT_FIELD',
  'DELETE_CONTEXT_FIELD',
  'CREATE_STRATEGY',
  'UPDATE_STRATEGY',
  'DELETE_STRATEGY',
  'CREATE_TAG_TYPE',
  'UPDATE_TAG_TYPE',
  'DELETE_TAG_TYPE',
  'CREATE_ADDON',
  'UPDATE_ADDON',
  'DELETE_ADDON',
  'READ_CLIENT_API_TOKEN',
  'CREATE_CLIENT_API_TOKEN',
  'UPDATE_CLIENT_API_TOKEN',
  'DELETE_CLIENT_API_TOKEN',
  'READ_FRONTEND_API_TOKEN',
  'CREATE_FRONTEND_API_TOKEN',
  'UPDATE_FRONTEND_API_TOKEN',
  'DELETE_FRONTEND_API_TOKEN',
  'UPDATE_APPLICATION',
  'READ_ROLE',
  'CLIENT',
  'FRONTEND',
] as const;
export type Permission = (typeof permissions)[number];

/**
 * The number that identifies a permission to clients. Clients store it, so numbers never change and are never reused. Those of CREATE_PROJECT,
 * UPDATE_PROJECT and CREATE_FEATURE_STRATEGY are Unleash's, which the tests of Terraform's provider compare.
 */
export const permissionIds: Readonly<Record<Permission, number>> = {
  ADMIN: 1,
  CREATE_FEATURE: 2,
  UPDATE_FEATURE: 3,
  DELETE_FEATURE: 4,
  MOVE_FEATURE_TOGGLE: 5,
  UPDATE_FEATURE_DEPENDENCY: 6,
  UPDATE_FEATURE_VARIANTS: 7,
  CREATE_FEATURE_STRATEGY: 25,
  UPDATE_FEATURE_STRATEGY: 9,
  DELETE_FEATURE_STRATEGY: 10,
  UPDATE_FEATURE_ENVIRONMENT: 11,
  CREATE_PROJECT: 12,
  APPROVE_CHANGE_REQUEST: 17,
  APPLY_CHANGE_REQUEST: 14,
  SKIP_CHANGE_REQUEST: 15,
  UPDATE_FEATURE_ENVIRONMENT_VARIANTS: 16,
  UPDATE_PROJECT: 13,
  DELETE_PROJECT: 18,
  PROJECT_USER_ACCESS_READ: 19,
  PROJECT_USER_ACCESS_WRITE: 20,
  PROJECT_DEFAULT_STRATEGY_READ: 21,
  PROJECT_DEFAULT_STRATEGY_WRITE: 22,
  PROJECT_CHANGE_REQUEST_READ: 23,
  PROJECT_CHANGE_REQUEST_WRITE: 24,
  PROJECT_SETTINGS_READ: 8,
  PROJECT_SETTINGS_WRITE: 26,
  READ_PROJECT_API_TOKEN: 27,
  CREATE_PROJECT_API_TOKEN: 28,
  DELETE_PROJECT_API_TOKEN: 29,
  CREATE_SEGMENT: 30,
  UPDATE_SEGMENT: 31,
  DELETE_SEGMENT: 32,
  UPDATE_PROJECT_SEGMENT: 33,
  CREATE_CONTEXT_FIELD: 34,
  UPDATE_CONTEXT_FIELD: 35,
  DELETE_CONTEXT_FIELD: 36,
  CREATE_STRATEGY: 37,
  UPDATE_STRATEGY: 38,
  DELETE_STRATEGY: 39,
  CREATE_TAG_TYPE: 40,
  UPDATE_TAG_TYPE: 41,
  DELETE_TAG_TYPE: 42,
  CREATE_ADDON: 43,
  UPDATE_ADDON: 44,
  DELETE_ADDON: 45,
  READ_CLIENT_API_TOKEN: 46,
  CREATE_CLIENT_API_TOKEN: 47,
  UPDATE_CLIENT_API_TOKEN: 48,
  DELETE_CLIENT_API_TOKEN: 49,
  READ_FRONTEND_API_TOKEN: 50,
  CREATE_FRONTEND_API_TOKEN: 51,
  UPDATE_FRONTEND_API_TOKEN: 52,
  DELETE_FRONTEND_API_TOKEN: 53,
  UPDATE_APPLICATION: 54,
  READ_ROLE: 55,
  CLIENT: 56,
  FRONTEND: 57,
};

/** A permission, with the project and the environment in which it holds. Where one is absent, it holds in all of them. */
export const Grant = Type.Object({
  permission: Type.Enum([...permissions]),
  project: Type.Optional(Type.String()),
  environment: Type.Optional(Type.String()),
});
export type Grant = Static<typeof Grant>;

/** The authenticated caller. Every call carries it, so that services can authorise on the objects that they load. */
export const Caller = Type.Object({
  id: Type.Integer({ description: 'id of the user; -42 for an admin token, -1337 for the system itself' }),
  name: Type.String({
    description: 'the name of the caller in events: e-mail, else user name; the name of the token for an admin token',
  }),
  displayName: Type.Optional(
    Type.String({
      description: 'name of the user for display: name, else user name, else e-mail; absent if it is `name`',
    }),
  ),
  username: Type.Optional(
    Type.String({
      description: 'user name as authors are named by it: user name, else name, else e-mail; absent if it is `name`',
    }),
  ),
  tokenId: Type.Optional(Type.String()),
  isService: Type.Optional(Type.Boolean({ description: 'whether it is a service account; absent for a person' })),
  via: Type.Optional(
    Type.Enum(['slack'], {
      type: 'string',
      description: 'what the person acts through, for the event log; absent for the console and the API',
    }),
  ),
  grants: Type.Array(Grant),
  deletedProjects: Type.Optional(
    Type.Array(Type.String(), { description: 'deleted projects that the token of an SDK was for' }),
  ),
  hiddenProjects: Type.Optional(
    Type.Array(Type.String(), {
      description: 'private projects in which the caller has no role: to the caller, they do not exist',
    }),
  ),
  proposalDeniedProjects: Type.Optional(
    Type.Array(Type.String(), {
      description: 'protected projects in which the caller has no role: the caller may read them, not propose changes',
    }),
  ),
});
export type Caller = Static<typeof Caller>;

/**
 * The scope of a permission check. An omitted project or environment matches any; null requires a grant without a project or environment,
 * which holds in all of them.
 */
export interface RequiredScope {
  readonly project?: string | null | undefined;
  readonly environment?: string | null | undefined;
}

/** The scope of what belongs to no project: grants within a project or an environment do not count. */
export const rootScope: RequiredScope = { project: null, environment: null };

/** The scope of what a grant in any project and environment permits. */
export const anyScope: RequiredScope = {};

/** Whether a grant includes a permission in a scope. ADMIN includes every permission. */
export function grantIncludes(grant: Grant, wanted: Permission, { project, environment }: RequiredScope): boolean {
  return (
    (grant.permission === 'ADMIN' || grant.permission === wanted) &&
    (grant.project === undefined || project === undefined || grant.project === project) &&
    (grant.environment === undefined || environment === undefined || grant.environment === environment)
  );
}

/** A check that a caller passed: of one of the permissions `may` in a scope, or of the visibility of the project `sees`. */
export type PassedCheck = ({ readonly may: readonly Permission[] } & RequiredScope) | { readonly sees: string };

/** By caller: the function that is called with every check that the caller passes. */
const listeners = new WeakMap<Caller, (passed: PassedCheck) => void>();

/** A copy of the caller. Every check that the copy passes is reported to `onPassed`, and to the observer of the caller if it has one. */
export function observeChecks(caller: Caller, onPassed: (passed: PassedCheck) => void): Caller {
  const observed = { ...caller };
  const outerListener = listeners.get(caller);
  listeners.set(observed, (passed) => {
    outerListener?.(passed);
    onPassed(passed);
  });
  return observed;
}

/** Whether a grant of the caller includes one of the permissions in the scope. */
export function may(caller: Caller, wanted: readonly Permission[], scope: RequiredScope): boolean {
  const isGranted = caller.grants.some((grant) => wanted.some((one) => grantIncludes(grant, one, scope)));
  if (isGranted) listeners.get(caller)?.({ may: wanted, project: scope.project, environment: scope.environment });
  return isGranted;
}

/**
 * Authorises access to a loaded object. The gateway has authorised the path, which may name another project or environment.
 * @throws Refusal `NoAccessError`.
 */
export function authorise(caller: Caller, access: Access, scope: RequiredScope): void {
  const wanted = permissionsFor({ permission: access });
  if (wanted.length > 0 && !may(caller, wanted, scope)) throw noAccess(wanted, scope.environment ?? undefined);
}

/** Whether the caller has every permission everywhere. */
export function isAdministrator(caller: Caller): boolean {
  return may(caller, ['ADMIN'], rootScope);
}

/** Whether the project is visible to the caller. A private project is hidden from callers without a role in it. */
export function maySee(caller: Caller, project: string): boolean {
  const isVisible = caller.hiddenProjects === undefined || !caller.hiddenProjects.includes(project);
  if (isVisible) listeners.get(caller)?.({ sees: project });
  return isVisible;
}

/** Whether the caller may propose changes in the project: where it is protected, only members may. */
export function mayPropose({ proposalDeniedProjects = [] }: Caller, project: string): boolean {
  return !proposalDeniedProjects.includes(project);
}

/** @throws Refusal `NoAccessError` if the project is protected and the caller is no member: such a caller may only read it. */
export function requireMayPropose(caller: Caller, project: string): void {
  if (mayPropose(caller, project)) return;
  throw refusal('NoAccessError', 'The project is protected: only its members and administrators may propose changes');
}

/** The caller of background work: projections, schedules, jobs. */
export const systemCaller: Caller = { id: -1337, name: 'unleash_system_user', grants: [{ permission: 'ADMIN' }] };
/** The user id in events of writes with an admin token. */
export const adminTokenUserId = -42;
/** The caller of an operation that needs no token. */
export const anonymousCaller: Caller = { id: 0, name: 'anonymous', grants: [] };
