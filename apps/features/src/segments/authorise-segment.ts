import { type AnyOperation, authorise, type Caller, maySee, type Permission, rootScope } from '@bunting/contracts';
import { unknownProject } from '../refusals.ts';

interface SegmentAccess {
  /** the permission that a global segment requires, in all projects */
  readonly atRoot: Permission;
  /** the operation: a segment of a project requires any of its permissions, in that project */
  readonly operation: AnyOperation;
}

/** Authorises the caller to create, edit or delete a segment of a project, or a global one where `project` is null. */
export const authoriseSegment = (
  caller: Caller,
  { atRoot, operation }: SegmentAccess,
  project: string | null,
): void => {
  if (project === null) return authorise(caller, atRoot, rootScope);
  authorise(caller, operation.permission, { project });
  if (!maySee(caller, project)) throw unknownProject(project, '/body/project');
};
