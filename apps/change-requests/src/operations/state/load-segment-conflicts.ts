import type { AppliedChanges } from '@bunting/contracts';
import type { ChangeRequest } from '../../requests/change-request.ts';
import { segmentConflicts, segmentsToDelete } from '../../previews/conflicts.ts';
import type { ChangeRequestRepository } from '../../requests/request-store.ts';

/** The conflicts of segments that the request would delete although another open request adds them to a strategy. */
export const loadSegmentConflicts = async (
  requests: Pick<ChangeRequestRepository, 'segmentUses'>,
  request: ChangeRequest,
): Promise<AppliedChanges['conflicts']> =>
  segmentConflicts(request, await requests.segmentUses(request.project, segmentsToDelete(request.changes)));
