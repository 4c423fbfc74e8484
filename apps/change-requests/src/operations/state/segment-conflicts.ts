import { type AppliedChanges, segmentInUse } from '@bunting/contracts';
import type { ChangeRequest } from '../../domain/change-request.ts';
import type { ChangeRequestRepository } from '../../persistence/change-request-repository.ts';

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
  return deletions
    .filter(({ segment }) => used.has(segment.id))
    .map(({ changeId, segment }) => ({ ...segmentInUse(segment.name), segment: segment.id, changeId }));
};
