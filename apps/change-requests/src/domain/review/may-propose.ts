import { type Caller, refusal } from '@bunting/contracts';

/** @throws Refusal `NoAccessError` if the project is protected and the caller is no member: such a caller may only read it. */
export const requireMayPropose = ({ proposalDeniedProjects = [] }: Caller, project: string): void => {
  if (!proposalDeniedProjects.includes(project)) return;
  throw refusal('NoAccessError', 'The project is protected: only its members and administrators may propose changes');
};
