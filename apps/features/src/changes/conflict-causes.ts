import type { ConflictCause } from '@bunting/contracts';
import { shortName } from '../refusals.ts';

export const strategyDeletedCause: ConflictCause = { code: 'strategy-deleted', message: 'Strategy has been deleted' };

export const segmentDeletedCause = (id: number): ConflictCause => ({
  code: 'segment-missing',
  message: `Segment ${id} has been deleted`,
});

export const segmentOfAnotherProjectCause = (name: string, project: string): ConflictCause => ({
  code: 'segment-foreign',
  message: `Segment ${shortName(name)} does not belong to project "${project}"`,
});
