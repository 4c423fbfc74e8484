import { type Caller, may, noAccess } from '@bunting/contracts';
import type { Feature } from './feature.ts';
import { isSame } from './same.ts';
import { inEnvironment } from './strategy.ts';

/** What of an edit a protected environment guards. */
export interface GuardedEdit {
  readonly project: string;
  /** the environments in which the switch, the strategies or the variants differ */
  readonly environments: readonly string[];
  /** it is in effect in every environment at once: the archive, and what the feature depends on */
  readonly everywhere: boolean;
}

/**
 * What an edit changes that change requests are for. Names, descriptions, tags and the like are nobody's concern, and a
 * feature that comes back from the archive is not on yet.
 */
export const guardedEdit = (before: Feature, after: Feature): GuardedEdit => {
  const { project } = before;
  if (before.archivedAt !== null) return { project, environments: [], everywhere: false };
  const names = new Set([...Object.keys(before.environments), ...Object.keys(after.environments)]);
  return {
    project,
    environments: [...names].filter((name) => !isSame(inEnvironment(before, name), inEnvironment(after, name))),
    everywhere: before.archivedAt !== after.archivedAt || !isSame(before.dependencies, after.dependencies),
  };
};

/**
 * Refuses an edit that takes a change request, unless the caller may skip it there; what is in effect everywhere, wherever
 * there is protection.
 */
export const requireSkipping = (
  { project, environments, everywhere }: GuardedEdit,
  protectedEnvironments: readonly string[],
  caller: Caller,
): void => {
  const guarded = protectedEnvironments.filter((name) => everywhere || environments.includes(name));
  if (guarded.every((environment) => may(caller, ['SKIP_CHANGE_REQUEST'], { project, environment }))) return;
  throw noAccess(['SKIP_CHANGE_REQUEST']);
};
