import { type Permission, permissionCatalogue } from '@bunting/contracts';

/** A permission by the name that the roles in Administration show it under; only the role Admin has one that they do not show. */
function nameOf(permission: string): string {
  const description = permissionCatalogue.get(permission as Permission);
  return description === undefined ? 'the role Admin' : `the permission “${description.displayName}”`;
}

/** Names of permissions in a text of the server, as people read them. */
export function inPermissionNames(text: string): string {
  return text.replace(/"?\b([A-Z]+(?:_[A-Z]+)+)\b"?/g, (found, name: Permission) =>
    permissionCatalogue.has(name) ? `“${permissionCatalogue.get(name)?.displayName}”` : found,
  );
}

/** Of which permissions one is missing, and who can give it: `the permission “Update tag types”, which an administrator can give you`. */
export function missingPermission(permissions: readonly string[]): string {
  const names = permissions.filter((permission) => permission !== 'ADMIN' || permissions.length === 1).map(nameOf);
  const isOfProject = permissions.some((permission) => {
    const type = permissionCatalogue.get(permission as Permission)?.type;
    return type === 'project' || type === 'environment';
  });
  const giver = isOfProject ? 'an owner of the project' : 'an administrator';
  return `${names.join(' or ')}, which ${giver} can give you`;
}
