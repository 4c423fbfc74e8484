import { type Access, type Caller, maySee } from '@bunting/contracts';
import { unknownProject } from '../../domain/refusals.ts';
import { authorise } from '../authorise.ts';
import { authoriseAtRoot } from '../authorise-at-root.ts';

/** A segment of a project requires any of the permissions in that project; a global segment requires the first one in all projects. */
export const authoriseSegment = (caller: Caller, access: Access, project: string | null): void => {
  if (project !== null && !maySee(caller, project)) {
    throw unknownProject(project, '/body/project');
  }
  const [atRoot] = typeof access === 'string' ? [access] : access;
  if (project === null) authoriseAtRoot(caller, atRoot);
  else authorise(caller, access, { project });
};
