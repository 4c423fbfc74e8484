import type {
  CreatedUser,
  GetChangeRequestConfig,
  ListGroups,
  ProjectAccess,
  ReplyOf,
  Roles,
  RoleWithPermissions,
  SavedRole,
  Users,
} from '@bunting/contracts';
import { ContentRefused, type SendRequest } from './import-batches.ts';
import type { Servers } from './project-settings.ts';

/** What a server has at a path; undefined if it has no such path, as Unleash without Enterprise. */
async function readIfThere<T>(server: SendRequest, path: string): Promise<T | undefined> {
  try {
    return await server<T>('GET', path);
  } catch (error) {
    if (error instanceof ContentRefused) return undefined;
    throw error;
  }
}

/** The numbers that things of the source have at the target. */
type Ids = ReadonlyMap<number, number>;

function idsOf(ids: readonly number[], known: Ids): number[] {
  return ids.flatMap((id) => known.get(id) ?? []);
}

/** Creates the roles that are missing, by their names. */
async function moveRoles({ source, target, refusals, log }: Servers): Promise<Ids> {
  const { rootRoles } = await source<Users>('GET', '/api/admin/user-admin');
  const listed = (await readIfThere<Roles>(source, '/api/admin/roles'))?.roles ?? rootRoles;
  const existing = await target<Roles>('GET', '/api/admin/roles');
  const idByName = new Map(existing.roles.map(({ id, name }) => [name, id]));
  for (const { id, name, type } of listed) {
    if (idByName.has(name) || (type !== 'custom' && type !== 'root-custom')) continue;
    await refusals.collectFrom(`role ${name}`, async () => {
      const { description, permissions } = await source<RoleWithPermissions>('GET', `/api/admin/roles/${id}`);
      const granted = permissions.map((permission) => ({
        name: permission.name,
        ...(permission.environment ? { environment: permission.environment } : {}),
      }));
      const role = { name, description, type, permissions: granted };
      idByName.set(name, (await target<SavedRole>('POST', '/api/admin/roles', role)).id);
      log(`role ${name}: created`);
    });
  }
  return new Map(
    listed.flatMap(({ id, name }) => [[id, idByName.get(name) ?? 0] as const]).filter(([, there]) => there > 0),
  );
}

/** The users of a list by their e-mail addresses, and by their usernames. */
function accountsOf({ users }: Users) {
  const folded = (text: string): string => text.toLowerCase();
  const byEmail = new Map(users.flatMap(({ id, email }) => (email ? [[folded(email), id] as const] : [])));
  const byUsername = new Map(users.flatMap(({ id, username }) => (username ? [[username, id] as const] : [])));
  return ({ email, username }: Users['users'][number]): number | undefined =>
    (email ? byEmail.get(folded(email)) : undefined) ?? (username ? byUsername.get(username) : undefined);
}

/** Creates the users who are missing, without passwords: nobody else's secret is known. */
async function moveUsers({ source, target, refusals, log }: Servers, roles: Ids): Promise<Ids> {
  const listed = await source<Users>('GET', '/api/admin/user-admin');
  const existing = await target<Users>('GET', '/api/admin/user-admin');
  const viewer = existing.rootRoles.find(({ name }) => name === 'Viewer')?.id;
  const findAccount = accountsOf(existing);
  const ids = new Map<number, number>();
  let created = 0;
  for (const user of listed.users) {
    const { id, name, email, username } = user;
    const there = findAccount(user);
    if (there !== undefined) {
      ids.set(id, there);
      continue;
    }
    await refusals.collectFrom(`user ${email || username || id}`, async () => {
      const given = { ...(name ? { name } : {}), ...(email ? { email } : {}), ...(username ? { username } : {}) };
      const rootRole = roles.get(user.rootRole ?? 0) ?? viewer;
      const body = { ...given, rootRole, sendEmail: false };
      ids.set(id, (await target<CreatedUser>('POST', '/api/admin/user-admin', body)).id);
      created += 1;
    });
  }
  log(`users: ${listed.users.length}, of which created: ${created}`);
  return ids;
}

/** Creates the groups that are missing, by their names, with their members. */
async function moveGroups({ source, target, refusals, log }: Servers, roles: Ids, users: Ids): Promise<Ids> {
  const listed = (await readIfThere<ReplyOf<typeof ListGroups>>(source, '/api/admin/groups'))?.groups ?? [];
  const existing = await target<ReplyOf<typeof ListGroups>>('GET', '/api/admin/groups');
  const idByName = new Map(existing.groups.map(({ id, name }) => [name, id]));
  let created = 0;
  for (const { name, description, mappingsSSO, rootRole, users: members } of listed) {
    if (idByName.has(name)) continue;
    await refusals.collectFrom(`group ${name}`, async () => {
      const group = {
        name,
        description: description ?? null,
        mappingsSSO: mappingsSSO ?? [],
        rootRole: rootRole ? (roles.get(rootRole) ?? null) : null,
        users: idsOf(
          members.map(({ user }) => user.id),
          users,
        ).map((id) => ({ user: { id } })),
      };
      idByName.set(name, (await target<{ readonly id: number }>('POST', '/api/admin/groups', group)).id);
      created += 1;
    });
  }
  log(`groups: ${listed.length}, of which created: ${created}`);
  return new Map(
    listed.flatMap(({ id, name }) => (idByName.has(name) ? [[id, idByName.get(name) ?? 0] as const] : [])),
  );
}

/** Gives users and groups the roles in a project that they lack. */
async function moveAssignments(
  { source, target, refusals, log }: Servers,
  project: string,
  { roles, users, groups }: Readonly<Record<'roles' | 'users' | 'groups', Ids>>,
): Promise<void> {
  const path = `/api/admin/projects/${encodeURIComponent(project)}/access`;
  const before = await readIfThere<ProjectAccess>(source, path);
  if (before === undefined) return;
  const after = await target<ProjectAccess>('GET', path);
  for (const { id, name } of before.roles) {
    const role = roles.get(id);
    const there = after.roles.find((known) => known.id === role);
    if (role === undefined || there === undefined) continue;
    const holders = <T extends { readonly id: number; readonly roles: readonly number[] }>(list: readonly T[]) =>
      list.filter((holder) => holder.roles.includes(id)).map((holder) => holder.id);
    const missing = {
      users: idsOf(holders(before.users), users).filter((user) => !there.users.includes(user)),
      groups: idsOf(holders(before.groups), groups).filter((group) => !there.groups.includes(group)),
    };
    if (missing.users.length + missing.groups.length === 0) continue;
    await refusals.collectFrom(`role ${name} in ${project}`, async () => {
      await target('POST', path, { roles: [role], ...missing });
      log(`${project}: ${name}: ${missing.users.length} users and ${missing.groups.length} groups`);
    });
  }
}

/** Protects the environments of a project that change requests protect at the source. */
async function moveProtection({ source, target, refusals, log }: Servers, project: string): Promise<void> {
  const path = `/api/admin/projects/${encodeURIComponent(project)}`;
  type Config = ReplyOf<typeof GetChangeRequestConfig>;
  const before = (await readIfThere<Config>(source, `${path}/change-requests/config`)) ?? [];
  if (!before.some(({ changeRequestEnabled }) => changeRequestEnabled)) return;
  const after = await target<Config>('GET', `${path}/change-requests/config`);
  for (const { environment, changeRequestEnabled, requiredApprovals } of before) {
    const there = after.find((config) => config.environment === environment);
    if (!changeRequestEnabled || there?.changeRequestEnabled === true) continue;
    await refusals.collectFrom(`change requests of ${project} in ${environment}`, async () => {
      const config = { changeRequestsEnabled: true, ...(requiredApprovals ? { requiredApprovals } : {}) };
      await target('PUT', `${path}/environments/${encodeURIComponent(environment)}/change-requests/config`, config);
      log(`${project} in ${environment}: change requests`);
    });
  }
}

/**
 * Moves who may do what from a server with Unleash's API: its custom roles, users, groups, their roles in projects, and which environments
 * change requests protect. What the target has, by its name, is neither changed nor removed.
 */
export async function moveAccess(servers: Servers): Promise<void> {
  const roles = await moveRoles(servers);
  const users = await moveUsers(servers, roles);
  const groups = await moveGroups(servers, roles, users);
  const { projects } = await servers.source<{ readonly projects: readonly { readonly id: string }[] }>(
    'GET',
    '/api/admin/projects',
  );
  for (const { id } of projects) await moveAssignments(servers, id, { roles, users, groups });
  // Last: what is protected is no longer imported, but proposed.
  for (const { id } of projects) await moveProtection(servers, id);
}
