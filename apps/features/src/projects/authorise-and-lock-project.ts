import { type Access, authorise, type Caller } from '@bunting/contracts';
import { noProjectFound } from '../refusals.ts';
import type { LockedProject } from './project-repository.ts';
import type { Transaction } from '../unit-of-work/unit-of-work.ts';

/** Authorises the caller to access a project, and locks the project. Refuses an archived project unless `orArchived` is set. */
export const authoriseAndLockProject = async (
  { projects }: Pick<Transaction, 'projects'>,
  { id, caller, access, orArchived = false }: { id: string; caller: Caller; access: Access; orArchived?: boolean },
): Promise<LockedProject> => {
  authorise(caller, access, { project: id });
  const locked = await projects.findForUpdate(id);
  if (locked === undefined || (locked.isArchived && !orArchived)) throw noProjectFound(id);
  return locked;
};
