import { type Caller, maySee } from '@bunting/contracts';

/** What was found, unless its project is hidden from the caller: then it is as if it did not exist. */
export const visibleTo = <T extends { readonly project: string | null }>(
  { caller }: { readonly caller: Caller },
  found: T | undefined,
): T | undefined =>
  found === undefined || (found.project !== null && !maySee(caller, found.project)) ? undefined : found;

/** The projects that are not there for the caller. */
export const hiddenProjectsOf = ({ hiddenProjects = [] }: Caller): readonly string[] => hiddenProjects;
