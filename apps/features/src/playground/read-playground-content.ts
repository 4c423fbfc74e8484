import type { OperationRequest } from '@bunting/bus';
import type { AdvancedPlaygroundBody, AnyOperation, PlaygroundBody } from '@bunting/contracts';
import type { PlaygroundContent } from './playground-content.ts';
import { maxFeatures, requireFeaturesWithin } from './playground-limits.ts';
import { unknownEnvironment } from '../refusals.ts';
import { featureNamesToRead } from '../changes/change-context-query.ts';
import type { FeaturesContext } from '../context.ts';
import { hiddenProjectsOf } from '../visibility.ts';
import { changesOf, contentAfterProposal, readProposedChanges, segmentCandidatesIn } from './proposed-changes.ts';

interface ContentSelection extends Pick<AdvancedPlaygroundBody, 'projects' | 'changeRequest' | 'features'> {
  readonly environments: readonly string[];
  /** the JSON pointer of the environments in the request */
  readonly environmentsPath: string;
  /** how many times each feature is to be evaluated in each environment */
  readonly contexts: number;
}

/** The projects of a request; undefined for all projects. */
export const selectedProjects = (projects: PlaygroundBody['projects']): string[] | undefined =>
  projects === undefined || projects === '*' || projects.length === 0 || projects.includes('*')
    ? undefined
    : (projects as string[]);

/** @throws Refusal when an environment does not exist, with the path at which the request names it */
export const requireEnvironments = (
  { environments: existing }: PlaygroundContent,
  environments: readonly string[],
  path: string,
): void => {
  const missing = environments.find((environment) => !existing.includes(environment));
  if (missing !== undefined) throw unknownEnvironment(missing, path);
};

/**
 * Reads what the playground evaluates in each environment: what is stored, or what would be if a change request were applied.
 * @throws Refusal for an unknown environment, for more evaluations than the limit, and for a change request with conflicts
 */
export const readPlaygroundContent = async (
  context: FeaturesContext,
  request: OperationRequest<AnyOperation>,
  { environments, environmentsPath, contexts, projects, changeRequest, features }: ContentSelection,
): Promise<PlaygroundContent> => {
  const limit = maxFeatures(environments.length * contexts);
  const proposal = changeRequest === undefined ? undefined : await readProposedChanges(context, request, changeRequest);
  const selected = selectedProjects(projects);
  const selection = {
    ...(selected === undefined ? {} : { projects: selected }),
    ...(proposal === undefined ? {} : { segments: segmentCandidatesIn(proposal) }),
    hidden: hiddenProjectsOf(request.caller),
    limit: limit + 1,
  };
  const alsoNames = proposal && featureNamesToRead(changesOf(proposal));
  const content =
    features === undefined
      ? await context.readPlayground.ofProjects(environments, selection)
      : await context.readPlayground.ofPage(environments, { ...selection, names: features, alsoNames });
  requireEnvironments(content, environments, environmentsPath);
  requireFeaturesWithin(content, limit);
  if (proposal === undefined) return content;
  return contentAfterProposal(content, proposal, context, request);
};
