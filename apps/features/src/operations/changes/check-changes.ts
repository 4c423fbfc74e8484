import { implement } from '@bunting/bus';
import { type Change, CheckChanges, isSegmentChange, notFound } from '@bunting/contracts';
import { randomUUID } from 'node:crypto';
import { checkChanges } from '../../domain/changes/index.ts';
import { shortName } from '../../domain/refusals.ts';
import type { ChangeSubjects } from '../../persistence/changes/situation-reader.ts';
import { referencesIn } from '../references.ts';
import { hiddenProjectsOf } from '../visibility.ts';
import type { FeaturesContext } from '../context.ts';

/** The features that a change edits or refers to. */
export const featuresOf = (change: Change): string[] => {
  if (isSegmentChange(change)) return [];
  return change.action === 'addDependency' ? [change.feature, change.payload.feature] : [change.feature];
};

/** The objects that changes edit or refer to. */
export const subjectsOf = (project: string, changes: readonly Change[]): ChangeSubjects => {
  const ofSegments = changes.filter(isSegmentChange);
  return {
    project,
    ...referencesIn(changes),
    features: changes.flatMap(featuresOf),
    segments: ofSegments.map(({ payload }) => payload.id),
    segmentNames: ofSegments.flatMap((change) =>
      change.action === 'updateSegment' && change.payload.name !== undefined ? [change.payload.name] : [],
    ),
  };
};

export const checkChangesEndpoint = ({ readSituation }: FeaturesContext) =>
  implement(CheckChanges, async ({ body, caller, now }) => {
    const { project, environment, changes, earlier } = body;
    const found = await readSituation(subjectsOf(project, [...earlier, ...changes]), hiddenProjectsOf(caller));
    if (found === undefined) throw notFound(`Could not find project with id ${shortName(project)}`);
    const situation = { ...found, environment, now: now.toISOString(), newStrategyId: randomUUID };
    return { changes: checkChanges(changes, earlier, situation) };
  });
