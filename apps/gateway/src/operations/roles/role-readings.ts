import { implement } from '@bunting/bus';
import {
  describePermission,
  GetRole,
  ListPermissions,
  ListRoles,
  notFound,
  permissionsOfType,
  type PermissionType,
  refusal,
  ValidateRole,
} from '@bunting/contracts';
import { wrong } from '../../domain/refusals.ts';
import type { UnitOfWork } from '../../persistence/unit-of-work.ts';
import type { PlacesKnown } from '../places.ts';
import { answeredRole } from './answered-role.ts';

export const noSuchRole = 'Could not find role';

export const listRolesEndpoint = (work: UnitOfWork) =>
  implement(ListRoles, (asked) =>
    work(asked, async ({ roles }) => ({ version: 1 as const, roles: await roles.list() })),
  );

export const getRoleEndpoint = (work: UnitOfWork) =>
  implement(GetRole, (asked) =>
    work(asked, async ({ roles }) => {
      const role = await roles.read(asked.params.id);
      if (role === undefined) throw notFound(noSuchRole);
      return answeredRole(role);
    }),
  );

export const validateRoleEndpoint = (work: UnitOfWork) =>
  implement(ValidateRole, (asked) =>
    work(asked, async ({ roles }) => {
      const name = asked.body.name.trim();
      if (name === '') throw wrong('The name of a role must not be empty', '/body/name');
      if (await roles.isTaken(name, asked.body.id))
        throw refusal('NameExistsError', `There already exists a role with the name ${name}`);
      return null;
    }),
  );

const ofType = (wanted: PermissionType) => permissionsOfType(wanted).map(describePermission);

export const listPermissionsEndpoint = (places: PlacesKnown) =>
  implement(ListPermissions, async (asked) => ({
    version: 1 as const,
    permissions: {
      root: ofType('root'),
      project: ofType('project'),
      environments: (await places.environments(asked)).map((name) => ({ name, permissions: ofType('environment') })),
    },
  }));
