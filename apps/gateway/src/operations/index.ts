import type { Bus, Endpoint } from '@bunting/bus';
import type { AccountCounter } from '../persistence/account-counter.ts';
import type { AccessReader } from '../persistence/access-reader.ts';
import type { ProjectHidings } from '../persistence/project-hidings.ts';
import type { ProjectsHeardOf } from '../persistence/standing-projects.ts';
import type { UnitOfWork } from '../persistence/unit-of-work.ts';
import { countMembersEndpoint } from './access/count-members.ts';
import { countTokensEndpoint } from './access/count-tokens.ts';
import { getUsersAccessEndpoint } from './access/get-users-access.ts';
import { hideProjectEndpoint } from './access/hide-project.ts';
import { listHoldersEndpoint } from './access/list-holders.ts';
import { type CatchUp, placesKnown } from './places.ts';
import { getApiTokensByNameEndpoint, listApiTokensEndpoint } from './api-tokens/api-token-readings.ts';
import { createApiTokenEndpoint } from './api-tokens/create-api-token.ts';
import { deleteApiTokenEndpoint } from './api-tokens/delete-api-token.ts';
import {
  createProjectApiTokenEndpoint,
  deleteProjectApiTokenEndpoint,
  listProjectApiTokensEndpoint,
} from './api-tokens/project-api-tokens.ts';
import { updateApiTokenEndpoint } from './api-tokens/update-api-token.ts';
import { createGroupEndpoint } from './groups/create-group.ts';
import { deleteGroupEndpoint } from './groups/delete-group.ts';
import { getGroupEndpoint, listGroupsEndpoint } from './groups/group-readings.ts';
import { updateGroupEndpoint } from './groups/update-group.ts';
import { getMaintenanceEndpoint, getTelemetrySettingsEndpoint } from './instance/fixed-settings.ts';
import type { Instance } from './instance/instance.ts';
import { statisticsEndpoints } from './instance/statistics.ts';
import { getUiConfigEndpoint, setUiConfigEndpoint } from './instance/ui-config.ts';
import { createPatEndpoint } from './pats/create-pat.ts';
import { deletePatEndpoint } from './pats/delete-pat.ts';
import { listPatsEndpoint } from './pats/list-pats.ts';
import { addProjectAccessEndpoint } from './project-access/add-project-access.ts';
import { getProjectAccessEndpoint } from './project-access/get-project-access.ts';
import {
  removeProjectGroupEndpoint,
  removeProjectUserEndpoint,
  setProjectGroupRolesEndpoint,
  setProjectUserRolesEndpoint,
} from './project-access/holder-roles.ts';
import { setProjectAccessEndpoint } from './project-access/set-project-access.ts';
import { copyEnvironmentPermissionsEndpoint } from './roles/copy-environment-permissions.ts';
import { createRoleEndpoint } from './roles/create-role.ts';
import { deleteRoleEndpoint } from './roles/delete-role.ts';
import {
  getRoleEndpoint,
  listPermissionsEndpoint,
  listRolesEndpoint,
  validateRoleEndpoint,
} from './roles/role-readings.ts';
import { updateRoleEndpoint } from './roles/update-role.ts';
import { createServiceAccountEndpoint } from './service-accounts/create-service-account.ts';
import { deleteServiceAccountEndpoint } from './service-accounts/delete-service-account.ts';
import { listServiceAccountsEndpoint } from './service-accounts/service-account-readings.ts';
import {
  createServiceAccountTokenEndpoint,
  deleteServiceAccountTokenEndpoint,
  listServiceAccountTokensEndpoint,
} from './service-accounts/service-account-tokens.ts';
import { updateServiceAccountEndpoint } from './service-accounts/update-service-account.ts';
import { createUserEndpoint } from './users/create-user.ts';
import { deleteUserEndpoint } from './users/delete-user.ts';
import { getMeEndpoint, getProfileEndpoint, getUserRolesEndpoint } from './users/own-readings.ts';
import { updateUserEndpoint } from './users/update-user.ts';
import { createUserTokenEndpoint, deleteUserTokenEndpoint, listUserTokensEndpoint } from './users/user-tokens.ts';
import { deleteInactiveUsersEndpoint, listInactiveUsersEndpoint } from './users/inactive-users.ts';
import { getUserPermissionsEndpoint } from './users/user-permissions.ts';
import {
  countAdminsEndpoint,
  getUserEndpoint,
  listUsersAndGroupsEndpoint,
  listUsersEndpoint,
  searchUsersEndpoint,
} from './users/user-readings.ts';

export interface GatewayAnswers {
  readonly bus: Bus;
  readonly work: UnitOfWork;
  readonly access: AccessReader;
  readonly heardOf: ProjectsHeardOf;
  readonly catchUp: CatchUp;
  readonly hidings: ProjectHidings;
  /** drops the cached callers */
  readonly forget: () => void;
  readonly instance: Instance;
  readonly countAccounts: AccountCounter;
}

/** Everything that the gateway itself answers: who there is, and who may do what. */
export const gatewayEndpoints = ({
  bus,
  work,
  access,
  heardOf,
  catchUp,
  instance,
  countAccounts,
  hidings,
  forget,
}: GatewayAnswers): readonly Endpoint[] => {
  const places = placesKnown(bus, heardOf, catchUp);
  return [
    getUiConfigEndpoint(bus, instance),
    setUiConfigEndpoint(instance),
    ...statisticsEndpoints({ bus, instance, countAccounts }),
    getTelemetrySettingsEndpoint,
    getMaintenanceEndpoint,
    listHoldersEndpoint(access),
    getUsersAccessEndpoint(access),
    countMembersEndpoint(access),
    countTokensEndpoint(access),
    hideProjectEndpoint(hidings, forget),
    listUsersEndpoint(work),
    createUserEndpoint(work),
    searchUsersEndpoint(work),
    getUserEndpoint(work),
    updateUserEndpoint(work),
    deleteUserEndpoint(work),
    listUsersAndGroupsEndpoint(work),
    countAdminsEndpoint(work),
    listInactiveUsersEndpoint(work),
    deleteInactiveUsersEndpoint(work),
    getUserPermissionsEndpoint(work, access),
    listUserTokensEndpoint(work),
    createUserTokenEndpoint(work),
    deleteUserTokenEndpoint(work),
    getMeEndpoint(work),
    getProfileEndpoint(work, places),
    getUserRolesEndpoint(work),
    listPatsEndpoint(work),
    createPatEndpoint(work),
    deletePatEndpoint(work),
    listServiceAccountsEndpoint(work),
    createServiceAccountEndpoint(work),
    updateServiceAccountEndpoint(work),
    deleteServiceAccountEndpoint(work),
    listServiceAccountTokensEndpoint(work),
    createServiceAccountTokenEndpoint(work),
    deleteServiceAccountTokenEndpoint(work),
    listApiTokensEndpoint(work),
    getApiTokensByNameEndpoint(work),
    createApiTokenEndpoint(work, places),
    updateApiTokenEndpoint(work),
    deleteApiTokenEndpoint(work),
    listProjectApiTokensEndpoint(work, places),
    createProjectApiTokenEndpoint(work, places),
    deleteProjectApiTokenEndpoint(work),
    listRolesEndpoint(work),
    getRoleEndpoint(work),
    copyEnvironmentPermissionsEndpoint(work),
    createRoleEndpoint(work),
    updateRoleEndpoint(work),
    deleteRoleEndpoint(work),
    validateRoleEndpoint(work),
    listPermissionsEndpoint(places),
    listGroupsEndpoint(work),
    getGroupEndpoint(work),
    createGroupEndpoint(work),
    updateGroupEndpoint(work),
    deleteGroupEndpoint(work),
    getProjectAccessEndpoint(work, places),
    setProjectAccessEndpoint(work, places),
    addProjectAccessEndpoint(work, places),
    setProjectUserRolesEndpoint(work, places),
    removeProjectUserEndpoint(work, places),
    setProjectGroupRolesEndpoint(work, places),
    removeProjectGroupEndpoint(work, places),
  ];
};
