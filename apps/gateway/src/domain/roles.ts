import {
  type Caller,
  noAccess,
  type Permission,
  permissionCatalogue,
  refusal,
  type Role,
  type RoleBody,
} from '@bunting/contracts';
import { badRequest } from './refusals.ts';

/** What a role gives; without an environment, in every one. */
export interface RoleGrant {
  readonly name: Permission;
  readonly environment?: string | null | undefined;
}

/** A role with what it gives, as it is stored and as events carry it. */
export interface RoleWithGrants extends Role {
  readonly permissions: readonly RoleGrant[];
}

export interface RoleInput {
  readonly name: string;
  readonly description: string;
  readonly type: 'root-custom' | 'custom';
  readonly permissions: readonly RoleGrant[];
}

/**
 * A role as it shall be kept, with each right once.
 * A role that holds everywhere can give rights in projects: they hold in every project. One for projects gives those alone.
 * @throws Refusal 400 for a right that such a role cannot give, and for an environment where none can be said.
 */
export const parseRole = (body: RoleBody): RoleInput => {
  const name = body.name.trim();
  if (name === '') throw badRequest('The name of a role must not be empty', '/body/name');
  const type = body.type ?? 'custom';
  const rights = new Map<string, RoleGrant>();
  for (const [index, right] of body.permissions.entries()) {
    const at = `/body/permissions/${index}`;
    const environment = right.environment || null;
    const known = permissionCatalogue.get(right.name);
    if (known === undefined) throw badRequest(`No role can give ${right.name}`, `${at}/name`);
    if (type === 'custom' && known.type === 'root')
      throw badRequest(`A role of the type ${type} cannot give ${right.name}`, `${at}/name`);
    if (environment !== null && known.type !== 'environment')
      throw badRequest(`${right.name} does not hold in single environments`, `${at}/environment`);
    rights.set(JSON.stringify([right.name, environment]), { name: right.name, environment });
  }
  return { name, description: body.description?.trim() ?? '', type, permissions: [...rights.values()] };
};

/** @throws Refusal 403 for a role that every installation has. */
export const requireCustomRole = ({ name, type }: { readonly name: string; readonly type: string }): void => {
  if (type === 'root-custom' || type === 'custom') return;
  throw refusal('InvalidOperationError', `${name} is a predefined role. It can neither be changed nor deleted.`);
};

/** True when the caller has the right in the project, or everywhere where none is named, and in as many environments. */
export const holdsPermission = (
  caller: Caller,
  { name, environment }: RoleGrant,
  project: string | undefined,
): boolean =>
  caller.grants.some(
    (grant) =>
      (grant.permission === 'ADMIN' || grant.permission === name) &&
      (grant.project === undefined || grant.project === project) &&
      (grant.environment === undefined || grant.environment === environment),
  );

/**
 * Nobody gives what they do not have: every right of the roles must be the caller's own, there and in as many environments.
 * @throws Refusal `NoAccessError` that names the first right that is not.
 */
export const requireMayGrant = (caller: Caller, project: string, rights: readonly RoleGrant[]): void => {
  for (const right of rights)
    if (!holdsPermission(caller, right, project)) throw noAccess([right.name], right.environment ?? undefined);
};
