import { type Grant, grantIncludes, type Permission } from '@bunting/contracts';

/** Where a permission must hold; without a project or environment, in all of them. */
export interface PermissionScope {
  readonly project?: string | undefined;
  readonly environment?: string | undefined;
}

type Grants = readonly Grant[];
const grantsByProject = new WeakMap<Grants, ReadonlyMap<string | undefined, Grants>>();

function byProject(grants: Grants): ReadonlyMap<string | undefined, Grants> {
  const known = grantsByProject.get(grants);
  if (known !== undefined) return known;
  const groups = new Map<string | undefined, Grant[]>();
  for (const grant of grants) {
    const group = groups.get(grant.project);
    if (group === undefined) groups.set(grant.project, [grant]);
    else group.push(grant);
  }
  grantsByProject.set(grants, groups);
  return groups;
}

/**
 * Whether a grant includes a permission; without a project or environment, in all of them. It reads only the grants everywhere and in the
 * project: the owner of 3,000 projects has 50,000, and a form asks for each project.
 */
export function isGranted(grants: Grants, permission: Permission, { project, environment }: PermissionScope): boolean {
  const groups = byProject(grants);
  const scope = { project: project ?? null, environment: environment ?? null };
  return [undefined, ...(project === undefined ? [] : [project])].some((of) =>
    groups.get(of)?.some((grant) => grantIncludes(grant, permission, scope)),
  );
}
