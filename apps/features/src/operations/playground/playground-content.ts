import { call, onBehalfOf, type OperationRequest } from '@bunting/bus';
import { type AnyOperation, type PlaygroundBody, ReadProposedChanges, refusal } from '@bunting/contracts';
import { randomUUID } from 'node:crypto';
import { foldChanges } from '../../domain/changes/fold.ts';
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

/**
 * Reads what the playground evaluates in each environment: what is stored, or what would be if a change request were applied.
 * @throws Refusal for an unknown environment, for more evaluations than the limit, and for a change request with conflicts
 */
export const readPlaygroundContent = async (
  { bus, readPlayground, readSituation }: FeaturesContext,
  request: OperationRequest<AnyOperation>,
  { environments, contexts, projects, changeRequest }: Selection,
): Promise<PlaygroundContent> => {
  const { caller, now } = request;
  const hidden = hiddenProjectsOf(caller);
  const limit = maxFeatures(environments.length * contexts);
  const isEveryProject = projects === undefined || projects === '*' || projects.length === 0 || projects.includes('*');
  const content = await readPlayground(environments, {
    ...(isEveryProject ? {} : { projects: projects as string[] }),
    hidden,
    limit: limit + 1,
  });
  const missing = environments.find((environment) => !content.environments.includes(environment));
  if (missing !== undefined)
    throw invalidProperty(`Could not find environment ${shortName(missing)}`, '/body/environment');
  requireFeaturesWithin(content, limit);
  if (changeRequest === undefined) return content;

  const proposed = await call(bus, ReadProposedChanges, { body: { id: changeRequest } }, onBehalfOf(request));
  const changes = proposed.changes.map(({ change }) => change);
  const found = await readSituation(subjectsOf(proposed.project, changes), hidden);
  if (found === undefined) return content;
  const situation = {
    ...found,
    environment: proposed.environment,
    now: now.toISOString(),
    newStrategyId: randomUUID,
  };
  const { features, segments, conflicts } = foldChanges(proposed.changes, situation);
  if (conflicts.length > 0) {
    const reasons = conflicts.map(({ message }) => message).join(' ');
    throw refusal('ConflictError', `Change request ${changeRequest} could not be applied: ${reasons}`);
  }
  return withChanges(content, {
    features: features.values(),
    segments: new Map([...found.segments.keys()].map((id) => [id, segments.get(id) ?? null])),
  });
};
