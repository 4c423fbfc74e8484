import type { AppliedChanges } from '@bunting/contracts';
import { segmentInUse } from '../domain/conflicts-with-other-requests.ts';
import type { ChangeRequest } from '../domain/change-request.ts';
import type { ChangeRequestRepository } from '../persistence/change-request-repository.ts';

/** The conflicts of segments that the request would delete although another open request adds them to a strategy. */
export const segmentConflictsOf = async (
  requests: Pick<ChangeRequestRepository, 'segmentUses'>,
  { id, project, changes }: ChangeRequest,
): Promise<AppliedChanges['conflicts']> => {
  const deletions = changes.flatMap(({ id: changeId, action, segment }) =>
    action === 'deleteSegment' && segment !== null ? [{ changeId, segment }] : [],
  );
  const uses = await requests.segmentUses(
    project,
    deletions.map(({ segment }) => segment.id),
  );
  const used = new Set(uses.filter((use) => use.id !== id).map(({ segment }) => segment));
  return deletions.flatMap(({ changeId, segment }) => {
    if (!used.has(segment.id)) return [];
    const { conflict: message, conflictCode: code } = segmentInUse(segment.name);
    return [{ code, message, segment: segment.id, changeId }];
  });
};
