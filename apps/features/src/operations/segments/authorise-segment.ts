import { type Caller, maySee, type Permission } from '@bunting/contracts';
import { unknownProject } from '../../domain/refusals.ts';
import { authorise } from '../authorise.ts';
import { authoriseAtRoot } from '../authorise-at-root.ts';

/** A segment of a project requires a permission in that project; a global segment requires it in all projects. */
export const authoriseSegment = (
  caller: Caller,
  [atRoot, inProject]: readonly [Permission, Permission],
  project: string | null,
): void => {
  if (project !== null && !maySee(caller, project)) {
    throw unknownProject(project, '/body/project');
  }
  if (project === null) authoriseAtRoot(caller, atRoot);
  else authorise(caller, [atRoot, inProject], { project });
};
