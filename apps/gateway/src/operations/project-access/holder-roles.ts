import { implement } from '@bunting/bus';
import {
  notFound,
  RemoveProjectGroup,
  RemoveProjectUser,
  SetProjectGroupRoles,
  SetProjectUserRoles,
} from '@bunting/contracts';
import type { UnitOfWork } from '../../persistence/unit-of-work.ts';
import { noSuchGroup } from '../groups/group-readings.ts';
import type { PlacesKnown } from '../places.ts';
import { noSuchUser } from '../users/change-account.ts';
import { setHolderRoles } from './set-holder-roles.ts';

export const setProjectUserRolesEndpoint = (work: UnitOfWork, places: PlacesKnown) =>
  implement(SetProjectUserRoles, async (asked) => {
    const { caller, params, body } = asked;
    const { projectId: project, userId: id } = params;
    await places.requireProject(asked, project);
    await places.requireHeardOf([project]);
    return work(asked, async (tx) => {
      await tx.requireStanding([project]);
      if ((await tx.people.existing([id])).length === 0) throw notFound(noSuchUser);
      const type = 'project-access-user-roles-updated';
      await setHolderRoles(tx, { caller, project, holder: 'user', id, roles: body.roles, type });
      return null;
    });
  });

export const removeProjectUserEndpoint = (work: UnitOfWork, places: PlacesKnown) =>
  implement(RemoveProjectUser, async (asked) => {
    const { caller, params } = asked;
    const { projectId: project, userId: id } = params;
    await places.requireProject(asked, project);
    await places.requireHeardOf([project]);
    return work(asked, async (tx) => {
      await tx.requireStanding([project]);
      const type = 'project-access-user-roles-deleted';
      await setHolderRoles(tx, { caller, project, holder: 'user', id, roles: [], type });
      return null;
    });
  });

export const setProjectGroupRolesEndpoint = (work: UnitOfWork, places: PlacesKnown) =>
  implement(SetProjectGroupRoles, async (asked) => {
    const { caller, params, body } = asked;
    const { projectId: project, groupId: id } = params;
    await places.requireProject(asked, project);
    await places.requireHeardOf([project]);
    return work(asked, async (tx) => {
      await tx.requireStanding([project]);
      if ((await tx.groups.find(id)) === undefined) throw notFound(noSuchGroup);
      const type = 'project-access-group-roles-updated';
      await setHolderRoles(tx, { caller, project, holder: 'group', id, roles: body.roles, type });
      return null;
    });
  });

export const removeProjectGroupEndpoint = (work: UnitOfWork, places: PlacesKnown) =>
  implement(RemoveProjectGroup, async (asked) => {
    const { caller, params } = asked;
    const { projectId: project, groupId: id } = params;
    await places.requireProject(asked, project);
    await places.requireHeardOf([project]);
    return work(asked, async (tx) => {
      await tx.requireStanding([project]);
      const type = 'project-access-group-roles-deleted';
      await setHolderRoles(tx, { caller, project, holder: 'group', id, roles: [], type });
      return null;
    });
  });
