import { type Caller, refusal } from '@bunting/contracts';

/** @throws Refusal `NoAccessError` in a protected project that the caller has no part in: such a project is theirs to read alone. */
export const requireMayPropose = ({ closedProjects = [] }: Caller, project: string): void => {
  if (!closedProjects.includes(project)) return;
  throw refusal('NoAccessError', 'The project is protected: only its members and administrators may propose changes');
};
