import type { Caller } from '@bunting/contracts';

/** The projects that the caller may not see, for reads. Repositories leave them out of writes by themselves. */
export const hiddenProjectsOf = ({ hiddenProjects = [] }: Caller): readonly string[] => hiddenProjects;
