import { implement } from '@bunting/bus';
import { GetOwnRoles, isAdministrator } from '@bunting/contracts';
import { hasAccount } from '../../domain/accounts/accounts.ts';
import { predefinedRole } from '../../access/roles/role.ts';
import type { GatewayContext } from '../../access/context.ts';

export const getOwnRolesEndpoint = ({ reads }: GatewayContext) =>
  implement(GetOwnRoles, async ({ caller, query }) => {
    const assigned = hasAccount(caller) ? await reads.projectRoles.listRolesOfUser(caller.id, query.projectId) : [];
    // An administrator has access to every project through the root role Admin; admin tokens act with it.
    if (isAdministrator(caller)) assigned.push(predefinedRole.admin);
    const project = query.projectId === undefined ? {} : { project: query.projectId };
    const roles = (await reads.roles.list()).filter(({ id }) => assigned.includes(id));
    return { version: 1 as const, roles: roles.map((role) => ({ ...role, ...project })) };
  });
