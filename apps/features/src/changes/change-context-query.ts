import { type Change, isSegmentChange } from '@bunting/contracts';
import { segmentIdsOf } from './subjects-of-changes.ts';
import { handlerOf } from './action-handlers.ts';
import type { ChangeContextQuery } from './change-context-reader.ts';
import { possibleReferencesIn } from '../projects/possible-references.ts';

/** The names of the features that changes edit or refer to. */
export const featureNamesToRead = (changes: readonly Change[]): string[] =>
  changes.flatMap((change) => {
    const { features = [] } = handlerOf(change).alsoReads(change);
    return isSegmentChange(change) ? [...features] : [change.feature, ...features];
  });

/** What the context of changes has to be read for: the objects that they edit or refer to. */
export const changeContextQuery = (project: string, changes: readonly Change[]): ChangeContextQuery => ({
  project,
  ...possibleReferencesIn(changes),
  features: featureNamesToRead(changes),
  segments: segmentIdsOf(changes),
  segmentNames: changes.flatMap((change) => handlerOf(change).alsoReads(change).segmentNames ?? []),
});
