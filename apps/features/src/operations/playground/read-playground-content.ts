import { call, onBehalfOf, type OperationRequest } from '@bunting/bus';
import {
  type AdvancedPlaygroundBody,
  type AnyOperation,
  type Change,
  type PlaygroundBody,
  projectNotFound,
  ReadProposedChanges,
  type ChangeWithSnapshot,
} from '@bunting/contracts';
import { requireNoConflict } from '../../domain/changes/find-conflicts.ts';
import { applyInMemory } from '../../domain/changes/apply-in-memory.ts';
import { type PlaygroundContent, withChanges } from '../../domain/playground/playground-content.ts';
import { maxFeatures, requireFeaturesWithin } from '../../domain/playground/playground-limits.ts';
import { unknownEnvironment } from '../../domain/refusals.ts';
import { toChangeContext } from '../changes/to-change-context.ts';
import { featuresToRead, changeContextQuery } from '../changes/change-context-query.ts';
import { collectReferenceCandidates } from '../reference-candidates.ts';
import type { FeaturesContext } from '../context.ts';
import { hiddenProjectsOf } from '../visibility.ts';

interface Selection extends Pick<AdvancedPlaygroundBody, 'projects' | 'changeRequest' | 'features'> {
  readonly environments: readonly string[];
  /** the JSON pointer of the environments in the request */
  readonly environmentsPath: string;
  /** how many times each feature is to be evaluated in each environment */
  readonly contexts: number;
}

/** The changes of a change request, and where they are to be applied. */
export interface Proposal {
  readonly project: string;
  readonly environment: string;
  readonly changes: readonly ChangeWithSnapshot[];
}

/** The projects of a request; undefined for all projects. */
export const selectedProjects = (projects: PlaygroundBody['projects']): string[] | undefined =>
  projects === undefined || projects === '*' || projects.length === 0 || projects.includes('*')
    ? undefined
    : (projects as string[]);

/** The changes of a change request. @throws Refusal when the caller can see no change request with the id */
export const readProposal = (
  { bus }: FeaturesContext,
  request: OperationRequest<AnyOperation>,
  id: number,
): Promise<Proposal> => call(bus, ReadProposedChanges, { body: { id } }, onBehalfOf(request));

/** @throws Refusal when an environment does not exist, with the path at which the request names it */
export const requireEnvironments = (
  { environments: existing }: PlaygroundContent,
  environments: readonly string[],
  path: string,
): void => {
  const missing = environments.find((environment) => !existing.includes(environment));
  if (missing !== undefined) throw unknownEnvironment(missing, path);
};

/** The changes of a proposal, without their ids and snapshots. */
export const changesOf = ({ changes }: Proposal): Change[] => changes.map(({ change }) => change);

/** The ids of segments that changes may refer to. */
export const segmentsIn = (proposal: Proposal): readonly number[] =>
  collectReferenceCandidates(changesOf(proposal)).numbers;

/**
 * The content as it would be if changes were applied.
 * @throws Refusal `NotFoundError` when their project does not exist, `ConflictError` when they could not be applied
 */
export const contentAfter = async (
  content: PlaygroundContent,
  proposal: Proposal,
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

/**
 * Reads what the playground evaluates in each environment: what is stored, or what would be if a change request were applied.
 * @throws Refusal for an unknown environment, for more evaluations than the limit, and for a change request with conflicts
 */
export const readPlaygroundContent = async (
  context: FeaturesContext,
  request: OperationRequest<AnyOperation>,
  { environments, environmentsPath, contexts, projects, changeRequest, features }: Selection,
): Promise<PlaygroundContent> => {
  const limit = maxFeatures(environments.length * contexts);
  const proposal = changeRequest === undefined ? undefined : await readProposal(context, request, changeRequest);
  const selected = selectedProjects(projects);
  const selection = {
    ...(selected === undefined ? {} : { projects: selected }),
    ...(proposal === undefined ? {} : { segments: segmentsIn(proposal) }),
    hidden: hiddenProjectsOf(request.caller),
    limit: limit + 1,
  };
  const alsoNames = proposal && featuresToRead(changesOf(proposal));
  const content =
    features === undefined
      ? await context.readPlayground.ofProjects(environments, selection)
      : await context.readPlayground.ofPage(environments, { ...selection, names: features, alsoNames });
  requireEnvironments(content, environments, environmentsPath);
  requireFeaturesWithin(content, limit);
  if (proposal === undefined) return content;
  return contentAfter(content, proposal, context, request);
};
