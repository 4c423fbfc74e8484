import { implement } from '@bunting/bus';
import { GetMe, GetProfile, GetUserRoles, imageUrlOf, may, type Role } from '@bunting/contracts';
import { isSomebody, predefinedRole } from '../../domain/access.ts';
import type { UnitOfWork } from '../../persistence/unit-of-work.ts';
import type { PlacesKnown } from '../places.ts';

export const getMeEndpoint = (work: UnitOfWork) =>
  implement(GetMe, async (asked) => {
    const { id, name, grants } = asked.caller;
    const known = { permissions: grants, feedback: [], splash: {} };
    const token = { id, isAPI: true, name, username: name, imageUrl: imageUrlOf(name) };
    if (!isSomebody(asked.caller)) return { user: token, ...known };
    return work(asked, async ({ people }) => {
      const found = await people.read(id);
      if (found === undefined) return { user: token, ...known };
      const { rootRole: _role, active: _active, ...user } = found;
      return { user, ...known };
    });
  });

export const getProfileEndpoint = (work: UnitOfWork, places: PlacesKnown) =>
  implement(GetProfile, async (asked) => {
    const { caller } = asked;
    const isAdmin = may(caller, ['ADMIN']);
    const everyProject = isAdmin ? await places.visibleProjects(asked) : undefined;
    return work(asked, async ({ people, projectAccess, roles }) => {
      const user = isSomebody(caller) ? await people.read(caller.id) : undefined;
      const held = user?.rootRole ?? (isAdmin ? predefinedRole.admin : predefinedRole.viewer);
      return {
        rootRole: (await roles.list()).find(({ id }) => id === held) as Role,
        projects: everyProject ?? (await projectAccess.projectsOfUser(caller.id)),
        features: [],
        subscriptions: [],
      };
    });
  });

export const getUserRolesEndpoint = (work: UnitOfWork) =>
  implement(GetUserRoles, async (asked) => {
    const { caller, query } = asked;
    return work(asked, async ({ projectAccess, roles }) => {
      const held = isSomebody(caller) ? await projectAccess.rolesOfUser(caller.id, query.projectId) : [];
      // An administrator has every project by the root role, and a token of theirs acts as that role.
      if (may(caller, ['ADMIN'])) held.push(predefinedRole.admin);
      const project = query.projectId === undefined ? {} : { project: query.projectId };
      const named = (await roles.list()).filter(({ id }) => held.includes(id));
      return { version: 1 as const, roles: named.map((role) => ({ ...role, ...project })) };
    });
  });
