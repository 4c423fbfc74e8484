import type { Caller, Permission } from '@bunting/contracts';

/** Which events somebody may see: all of them, those that belong to a project, or those of some projects. */
export type VisibleEvents = 'all' | 'of-any-project' | { readonly projects: readonly string[] };

/** What SDKs may do says nothing about who may read the log. */
const ofSdks: readonly Permission[] = ['CLIENT', 'FRONTEND'];

/**
 * Which events the caller may see. An event without a project needs a grant that holds everywhere. Whose grants hold in some
 * projects only sees those projects. Who may only read, and so holds no grant, reads every project.
 */
export const visibleEvents = ({ grants }: Caller): VisibleEvents => {
  if (grants.length === 0) return 'of-any-project';
  const counted = grants.filter(({ permission }) => !ofSdks.includes(permission));
  if (counted.some(({ project, environment }) => project === undefined && environment === undefined)) return 'all';
  if (counted.some(({ project }) => project === undefined)) return 'of-any-project';
  return { projects: [...new Set(counted.flatMap(({ project }) => project ?? []))] };
};
