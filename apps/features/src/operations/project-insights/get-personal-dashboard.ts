import { implement, JsonText, onBehalfOf } from '@bunting/bus';
import {
  type Caller,
  CountProjectMembers,
  GetPersonalDashboard,
  isAdministrator,
  ListPermissionHolders,
  maySee,
  type PersonalDashboard,
} from '@bunting/contracts';
import { callIfSupported } from '../../calls.ts';
import type { ProjectMembers } from '../../persistence/projects/project-members-sql.ts';
import { hiddenProjectsOf } from '../visibility.ts';
import type { FeaturesContext } from '../context.ts';

/** The projects in which the caller has a permission; null means all projects, for administrators. */
const ownProjects = (caller: Caller): string[] | null =>
  isAdministrator(caller)
    ? null
    : [...new Set(caller.grants.flatMap(({ project }) => (project === undefined ? [] : [project])))];

/** The users who own projects that the caller sees, without duplicates, sorted by name. */
const ownersOf = (members: readonly ProjectMembers[], caller: Caller): PersonalDashboard['projectOwners'] => {
  const owners = members
    .filter(({ id }) => maySee(caller, id))
    .flatMap((project) => project.owners)
    .flatMap(({ ownerType, name = '', ...details }) =>
      ownerType === 'user' ? [{ ownerType: 'user' as const, name, ...details }] : [],
    );
  const unique = new Map(owners.map((owner) => [JSON.stringify([owner.name, owner.email]), owner]));
  return [...unique.values()].toSorted((one, other) => one.name.localeCompare(other.name));
};

export const getPersonalDashboardEndpoint = ({ personalDashboards, bus }: FeaturesContext) =>
  implement(GetPersonalDashboard, async (request) => {
    const { caller } = request;
    // Administrators alone hold ADMIN in a project that does not exist: the empty id names none.
    const holdersOfAdmin = { project: '', permissions: ['ADMIN' as const] };
    const [{ projects: members } = { projects: [] }, { users } = { users: [] }] = await Promise.all([
      callIfSupported(bus, CountProjectMembers, { body: {} }, onBehalfOf(request)),
      callIfSupported(bus, ListPermissionHolders, { body: holdersOfAdmin }, onBehalfOf(request)),
    ]);
    const admins = users.map(({ id, name, username, email, imageUrl }) => ({
      id,
      ...(name === null ? {} : { name }),
      ...(username === null ? {} : { username }),
      ...(email === null ? {} : { email }),
      ...(imageUrl === null ? {} : { imageUrl }),
    }));
    const scope = { id: caller.id, projects: ownProjects(caller), hidden: hiddenProjectsOf(caller) };
    return new JsonText(
      await personalDashboards.read(scope, members, { projectOwners: ownersOf(members, caller), admins }),
    );
  });
