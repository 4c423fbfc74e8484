import { onBehalfOf, type OperationRequest } from '@bunting/bus';
import {
  type AnyOperation,
  type Change,
  type ChangeWithSnapshot,
  projectNotFound,
  ReadProposedChanges,
} from '@bunting/contracts';
import { call } from '../calls.ts';
import { requireNoConflict } from '../changes/find-conflicts.ts';
import { applyInMemory } from '../changes/apply-in-memory.ts';
import { type PlaygroundContent, withChanges } from './playground-content.ts';
import { toChangeContext } from '../changes/to-change-context.ts';
import { changeContextQuery } from '../changes/change-context-query.ts';
import { possibleReferencesIn } from '../projects/possible-references.ts';
import type { FeaturesContext } from '../context.ts';
import { hiddenProjectsOf } from '../visibility.ts';

/** The changes of a change request, and where they are to be applied. */
export interface ProposedChanges {
  readonly project: string;
  readonly environment: string;
  readonly changes: readonly ChangeWithSnapshot[];
}

/** The changes of a change request. @throws Refusal when the caller can see no change request with the id */
export const readProposedChanges = (
  { bus }: FeaturesContext,
  request: OperationRequest<AnyOperation>,
  id: number,
): Promise<ProposedChanges> => call(bus, ReadProposedChanges, { body: { id } }, onBehalfOf(request));

/** The changes of a proposal, without their ids and snapshots. */
export const changesOf = ({ changes }: ProposedChanges): Change[] => changes.map(({ change }) => change);

/** The ids of segments that changes may refer to. */
export const segmentCandidatesIn = (proposal: ProposedChanges): readonly number[] =>
  possibleReferencesIn(changesOf(proposal)).numbers;

/**
 * The content as it would be if changes were applied.
 * @throws Refusal `NotFoundError` when their project does not exist, `ConflictError` when they could not be applied
 */
export const contentAfterProposal = async (
  content: PlaygroundContent,
  proposal: ProposedChanges,
  { readChangeContext }: Pick<FeaturesContext, 'readChangeContext'>,
  { caller, now }: OperationRequest<AnyOperation>,
): Promise<PlaygroundContent> => {
  const { project, environment, changes } = proposal;
  const stored = await readChangeContext(changeContextQuery(project, changesOf(proposal)), hiddenProjectsOf(caller));
  if (stored === undefined) throw projectNotFound(project);
  const { features, segments, conflicts } = applyInMemory(changes, toChangeContext(stored, environment, now));
  requireNoConflict(conflicts);
  return withChanges(content, {
    features: features.values(),
    segments: new Map([...stored.segments.keys()].map((id) => [id, segments.get(id) ?? null])),
  });
};
