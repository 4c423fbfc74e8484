import { shortName } from '../refusals.ts';

/** The reason why a change cannot be applied now, as a code and as text. The text has no full stop: messages embed it in sentences. */
export interface ConflictCause {
  readonly code: string;
  readonly message: string;
}

export const strategyDeletedCause: ConflictCause = { code: 'strategy-deleted', message: 'Strategy has been deleted' };

export const segmentDeletedCause = (id: number): ConflictCause => ({
  code: 'segment-missing',
  message: `Segment ${id} has been deleted`,
});

export const segmentOfAnotherProjectCause = (name: string, project: string): ConflictCause => ({
  code: 'segment-foreign',
  message: `Segment ${shortName(name)} does not belong to project "${project}"`,
});
