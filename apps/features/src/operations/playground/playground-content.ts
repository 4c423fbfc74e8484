import { call, onBehalfOf, type OperationRequest } from '@bunting/bus';
import { type AnyOperation, type PlaygroundBody, ReadProposedChanges, refusal } from '@bunting/contracts';
import { randomUUID } from 'node:crypto';
import { foldChanges, type RequestedChange } from '../../domain/changes/fold.ts';
import { maxFeatures, type PlaygroundContent, requireFeaturesWithin, withChanges } from '../../domain/playground.ts';
import { shortName, invalidProperty } from '../../domain/refusals.ts';
import { subjectsOf } from '../changes/check-changes.ts';
import type { FeaturesContext } from '../context.ts';
import { hiddenProjectsOf } from '../visibility.ts';

interface Selection extends Pick<PlaygroundBody, 'projects' | 'changeRequest'> {
  readonly environments: readonly string[];
  /** how many times each feature is to be evaluated in each environment */
  readonly contexts: number;
}

interface Proposal {
  readonly project: string;
  readonly environment: string;
  readonly changes: readonly RequestedChange[];
}

/** @throws Refusal when an environment does not exist */
export const requireEnvironments = ({ environments: found }: PlaygroundContent, wanted: readonly string[]): void => {
  const missing = wanted.find((environment) => !found.includes(environment));
  if (missing !== undefined)
    throw invalidProperty(`Could not find environment ${shortName(missing)}`, '/body/environment');
};

/** The ids of segments that changes may refer to. */
export const segmentsIn = ({ project, changes }: Proposal): readonly number[] =>
  subjectsOf(
    project,
    changes.map(({ change }) => change),
  ).numbers;

/**
 * The content as it would be if changes were applied; undefined where the project does not exist.
 * @throws Refusal `ConflictError` when they could not be applied
 */
export const contentAfter = async (
  content: PlaygroundContent,
  { project, environment, changes }: Proposal,
  { readSituation }: Pick<FeaturesContext, 'readSituation'>,
  { caller, now }: OperationRequest<AnyOperation>,
): Promise<PlaygroundContent | undefined> => {
  const subjects = subjectsOf(
    project,
    changes.map(({ change }) => change),
  );
  const found = await readSituation(subjects, hiddenProjectsOf(caller));
  if (found === undefined) return undefined;
  const situation = { ...found, environment, now: now.toISOString(), newStrategyId: randomUUID };
  const { features, segments, conflicts } = foldChanges(changes, situation);
  if (conflicts.length > 0) {
    const reasons = conflicts.map(({ message }) => message).join(' ');
    throw refusal('ConflictError', `The changes could not be applied: ${reasons}`);
  }
  return withChanges(content, {
    features: features.values(),
    segments: new Map([...found.segments.keys()].map((id) => [id, segments.get(id) ?? null])),
  });
};

/**
 * Reads what the playground evaluates in each environment: what is stored, or what would be if a change request were applied.
 * @throws Refusal for an unknown environment, for more evaluations than the limit, and for a change request with conflicts
 */
export const readPlaygroundContent = async (
  context: FeaturesContext,
  request: OperationRequest<AnyOperation>,
  { environments, contexts, projects, changeRequest }: Selection,
): Promise<PlaygroundContent> => {
  const limit = maxFeatures(environments.length * contexts);
  const proposal =
    changeRequest === undefined
      ? undefined
      : await call(context.bus, ReadProposedChanges, { body: { id: changeRequest } }, onBehalfOf(request));
  const isEveryProject = projects === undefined || projects === '*' || projects.length === 0 || projects.includes('*');
  const content = await context.readPlayground.ofProjects(environments, {
    ...(isEveryProject ? {} : { projects: projects as string[] }),
    ...(proposal === undefined ? {} : { segments: segmentsIn(proposal) }),
    hidden: hiddenProjectsOf(request.caller),
    limit: limit + 1,
  });
  requireEnvironments(content, environments);
  requireFeaturesWithin(content, limit);
  if (proposal === undefined) return content;
  return (await contentAfter(content, proposal, context, request)) ?? content;
};
