import { implement } from '@bunting/bus';
import { GetMe, GetProfile, GetUserRoles, imageUrlOf } from '@bunting/contracts';
import { isSomebody } from '../../domain/access.ts';
import type { UnitOfWork } from '../../persistence/unit-of-work.ts';

export const getMeEndpoint = (work: UnitOfWork) =>
  implement(GetMe, async (asked) => {
    const { id, name, grants } = asked.caller;
    const known = { permissions: grants, feedback: [], splash: {} };
    const token = { id, isAPI: true, name, username: name, email: null, imageUrl: imageUrlOf(name) };
    if (!isSomebody(asked.caller)) return { user: token, ...known };
    return work(asked, async ({ people }) => {
      const found = await people.read(id);
      if (found === undefined) return { user: token, ...known };
      const { rootRole: _role, active: _active, ...user } = found;
      return { user, ...known };
    });
  });

export const getProfileEndpoint = (work: UnitOfWork) =>
  implement(GetProfile, async (asked) => {
    const { caller } = asked;
    const nothing = { features: [], subscriptions: [] };
    if (!isSomebody(caller)) return { rootRole: 'Admin', projects: [], ...nothing };
    return work(asked, async ({ people, projectAccess, roles }) => {
      const user = await people.read(caller.id);
      const rootRole = (await roles.list()).find(({ id }) => id === user?.rootRole)?.name ?? 'Viewer';
      return { rootRole, projects: await projectAccess.projectsOfUser(caller.id), ...nothing };
    });
  });

export const getUserRolesEndpoint = (work: UnitOfWork) =>
  implement(GetUserRoles, async (asked) => {
    const { caller, query } = asked;
    if (!isSomebody(caller)) return { version: 1 as const, roles: [] };
    return work(asked, async ({ projectAccess, roles }) => {
      const held = await projectAccess.rolesOfUser(caller.id, query.projectId);
      return { version: 1 as const, roles: (await roles.list()).filter(({ id }) => held.includes(id)) };
    });
  });
