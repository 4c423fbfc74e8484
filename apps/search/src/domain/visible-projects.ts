import type { Caller, Permission } from '@bunting/contracts';

/** What SDKs may do says nothing about who may look for features. */
const ofSdks: readonly Permission[] = ['CLIENT', 'FRONTEND'];

/**
 * The only projects that the caller may see; undefined when that is every one. Whose grants hold in some projects only sees
 * those projects. Who may only read, and so holds no grant, reads every project.
 */
export const visibleProjects = ({ grants }: Caller): readonly string[] | undefined => {
  if (grants.length === 0) return undefined;
  const counted = grants.filter(({ permission }) => !ofSdks.includes(permission));
  if (counted.some(({ project }) => project === undefined)) return undefined;
  return [...new Set(counted.flatMap(({ project }) => project ?? []))];
};
