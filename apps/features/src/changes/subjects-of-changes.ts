import { type Change, isSegmentChange } from '@bunting/contracts';

/** The names of the features that changes edit, each once. */
export const featureNamesOf = (changes: readonly Change[]): string[] => [
  ...new Set(changes.flatMap((change) => (isSegmentChange(change) ? [] : [change.feature]))),
];

/** The ids of the segments that changes edit or delete, each once. */
export const segmentIdsOf = (changes: readonly Change[]): number[] => [
  ...new Set(changes.flatMap((change) => (isSegmentChange(change) ? [change.payload.id] : []))),
];
