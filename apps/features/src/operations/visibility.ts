import { type Caller, maySee } from '@bunting/contracts';

/** Returns the object, or undefined if there is none or its project is hidden from the caller. */
export const undefinedIfHidden = <T extends { readonly project: string | null }>(
  { caller }: { readonly caller: Caller },
  found: T | undefined,
): T | undefined =>
  found === undefined || (found.project !== null && !maySee(caller, found.project)) ? undefined : found;

/** The objects whose projects the caller may see. The request treats the others as missing. */
export const onlyVisible = <T extends { readonly project: string }>(
  { caller }: { readonly caller: Caller },
  found: readonly T[],
): T[] => found.filter(({ project }) => maySee(caller, project));

/** The projects that the caller may not see. */
export const hiddenProjectsOf = ({ hiddenProjects = [] }: Caller): readonly string[] => hiddenProjects;
