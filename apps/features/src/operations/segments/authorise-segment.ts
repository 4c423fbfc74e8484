import { type Access, type Caller, maySee, rootScope } from '@bunting/contracts';
import { unknownProject } from '../../domain/refusals.ts';
import { authorise } from '../authorise.ts';

/** A segment of a project requires any of the permissions in that project; a global segment requires the first one in all projects. */
export const authoriseSegment = (caller: Caller, access: Access, project: string | null): void => {
  if (project !== null && !maySee(caller, project)) {
    throw unknownProject(project, '/body/project');
  }
  const [atRoot] = typeof access === 'string' ? [access] : access;
  if (project === null) authorise(caller, atRoot, rootScope);
  else authorise(caller, access, { project });
};
