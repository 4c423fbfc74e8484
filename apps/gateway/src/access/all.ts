export {
  countEnvironmentTokensEndpoint,
  countProjectMembersEndpoint,
  endEnvironmentAccessEndpoint,
  hideProjectEndpoint,
  listPermissionHoldersEndpoint,
} from './rights/endpoints.ts';
export {
  getPermissionsOfUsersEndpoint,
  getMeEndpoint,
  getProfileEndpoint,
  countAdminsEndpoint,
  createUserEndpoint,
  deleteInactiveUsersEndpoint,
  deleteUserEndpoint,
  getOwnRolesEndpoint,
  getUserPermissionsEndpoint,
  getUserEndpoint,
  listInactiveUsersEndpoint,
  listUsersAndGroupsEndpoint,
  listUsersEndpoint,
  searchUsersEndpoint,
  updateUserEndpoint,
} from './users/endpoints.ts';
export {
  createApiTokenEndpoint,
  createProjectApiTokenEndpoint,
  deleteApiTokenEndpoint,
  deleteProjectApiTokenEndpoint,
  getApiTokensByNameEndpoint,
  listApiTokensEndpoint,
  listProjectApiTokensEndpoint,
  updateApiTokenEndpoint,
  validateEdgeTokensEndpoint,
} from './tokens/endpoints.ts';
export {
  createGroupEndpoint,
  deleteGroupEndpoint,
  getGroupEndpoint,
  listGroupsEndpoint,
  updateGroupEndpoint,
} from './groups/endpoints.ts';
export { createScimTokenEndpoint, getScimSettingsEndpoint, setScimSettingsEndpoint } from './scim/endpoints.ts';
export {
  discoverOidcProviderEndpoint,
  getOidcSettingsEndpoint,
  getPasswordSettingsEndpoint,
  setOidcSettingsEndpoint,
  setPasswordSettingsEndpoint,
} from './oidc/endpoints.ts';
export {
  getInstanceStatisticsCsvEndpoint,
  getInstanceStatisticsEndpoint,
  getMaintenanceEndpoint,
  getTelemetrySettingsEndpoint,
  getUiConfigEndpoint,
  refuseOriginChangeEndpoint,
} from './instance/endpoints.ts';
export {
  createInviteLinkEndpoint,
  getInviteLinkEndpoint,
  listInviteLinksEndpoint,
  signUpEndpoint,
  updateInviteLinkEndpoint,
  validateInviteLinkEndpoint,
} from './invite-links/endpoints.ts';
export {
  changeOwnPasswordEndpoint,
  changeUserPasswordEndpoint,
  checkPasswordStrengthEndpoint,
  createResetLinkEndpoint,
  requestPasswordResetEndpoint,
  resetPasswordEndpoint,
  validateResetLinkEndpoint,
  validateUserPasswordEndpoint,
} from './passwords/endpoints.ts';
export {
  createOwnPatEndpoint,
  createUserPatEndpoint,
  deleteOwnPatEndpoint,
  deleteUserPatEndpoint,
  listOwnPatsEndpoint,
  listUserPatsEndpoint,
} from './pats/endpoints.ts';
export {
  addProjectAccessEndpoint,
  getProjectAccessEndpoint,
  listProjectRoleHoldersEndpoint,
  removeProjectGroupEndpoint,
  removeProjectUserEndpoint,
  setProjectAccessEndpoint,
  setProjectGroupRolesEndpoint,
  setProjectUserRolesEndpoint,
} from './project-access/endpoints.ts';
export {
  copyEnvironmentPermissionsEndpoint,
  createRoleEndpoint,
  deleteRoleEndpoint,
  getRoleEndpoint,
  listPermissionsEndpoint,
  listRootRoleHoldersEndpoint,
  listRolesEndpoint,
  updateRoleEndpoint,
  validateRoleEndpoint,
} from './roles/endpoints.ts';
export {
  createServiceAccountTokenEndpoint,
  createServiceAccountEndpoint,
  deleteServiceAccountTokenEndpoint,
  deleteServiceAccountEndpoint,
  listServiceAccountTokensEndpoint,
  listServiceAccountsEndpoint,
  updateServiceAccountEndpoint,
} from './service-accounts/endpoints.ts';
export {
  endOtherSessionsEndpoint,
  endOwnSessionEndpoint,
  endUserSessionsEndpoint,
  listOwnSessionsEndpoint,
  listUserSessionsEndpoint,
} from './sessions/endpoints.ts';
export { createFirstAdminEndpoint, logInEndpoint, validateFirstAdminLinkEndpoint } from './sign-in/endpoints.ts';
