import { implement } from '@bunting/bus';
import { EvaluatePlaygroundTable, type PlaygroundCell } from '@bunting/contracts';
import { featureNamesOf, segmentIdsOf } from '../../domain/changes/subjects-of-changes.ts';
import { tableCellEvaluator } from '../../domain/playground/playground-evaluators.ts';
import { combinationsOfAll, readContext } from '../../domain/playground/playground-contexts.ts';
import { maxFeatures } from '../../domain/playground/playground-limits.ts';
import { featureNamesToRead } from '../changes/change-context-query.ts';
import type { FeaturesContext } from '../context.ts';
import { hiddenProjectsOf } from '../visibility.ts';
import {
  changesOf,
  contentAfterProposal,
  type ProposedChanges,
  readProposedChanges,
  segmentCandidatesIn,
} from './proposed-changes.ts';
import { requireEnvironments, selectedProjects } from './read-playground-content.ts';

const defaultPageSize = 100;

const isSame = (one: PlaygroundCell, other: PlaygroundCell): boolean =>
  one.isEnabled === other.isEnabled && one.variant === other.variant && one.isUnknown === other.isUnknown;

/** The features and segments that a change request changes. */
const subjectsChangedBy = (proposal: ProposedChanges) => ({
  names: featureNamesOf(changesOf(proposal)),
  segments: segmentIdsOf(changesOf(proposal)),
});

export const evaluatePlaygroundTableEndpoint = (context: FeaturesContext) =>
  implement(EvaluatePlaygroundTable, async (request) => {
    const { body, caller, now } = request;
    const { changeRequest, limit = defaultPageSize, onlyConcerned = false } = body;
    const environments = [...new Set(body.environments)];
    const contexts = body.contexts.map(readContext);
    const combinations = combinationsOfAll(contexts.map(({ fields }) => fields));
    const pageSize = Math.min(limit, maxFeatures(environments.length * combinations.length));
    const proposal =
      changeRequest === undefined ? undefined : await readProposedChanges(context, request, changeRequest);
    const projects = selectedProjects(body.projects);
    const before = await context.readPlayground.ofPage(environments, {
      ...(projects === undefined ? {} : { projects }),
      ...(proposal === undefined
        ? {}
        : {
            segments: segmentCandidatesIn(proposal),
            alsoNames: featureNamesToRead(changesOf(proposal)),
            ...(onlyConcerned ? { concerning: subjectsChangedBy(proposal) } : {}),
          }),
      hidden: hiddenProjectsOf(caller),
      limit: pageSize + 1,
      query: body.query,
      names: body.features,
      after: body.after,
    });
    requireEnvironments(before, environments, '/body/environments');
    const after = proposal === undefined ? undefined : await contentAfterProposal(before, proposal, context, request);
    const page = before.page.slice(0, pageSize);
    const evaluators = new Map(
      environments.map((environment) => [
        environment,
        { current: tableCellEvaluator(before, environment), proposed: after && tableCellEvaluator(after, environment) },
      ]),
    );
    // Both evaluations use the same random number, so that a random rollout differs only where the change request changes it.
    const samples = combinations.map((fields) => ({ fields, number: Math.random() }));
    const cellsFor = (name: string, environment: string): PlaygroundCell[] =>
      samples.map(({ fields, number }) => {
        const fieldsInEnvironment = new Map([...fields, ['environment', environment]]);
        const evaluationContext = { fields: fieldsInEnvironment, now, random: () => number };
        const cell = evaluators.get(environment)?.current(name, evaluationContext) as PlaygroundCell;
        const proposed = evaluators.get(environment)?.proposed?.(name, evaluationContext);
        return proposed === undefined || isSame(cell, proposed) ? cell : { ...cell, proposed };
      });
    const ignored = [...new Set(contexts.flatMap((read) => read.ignored))];
    return {
      contexts: combinations.map((fields) => Object.fromEntries(fields)),
      features: page.map(({ name, projectId }) => ({
        name,
        projectId,
        environments: Object.fromEntries(
          environments.map((environment) => [environment, cellsFor(name, environment)] as const),
        ),
      })),
      total: before.total,
      next: before.page.length > pageSize ? (page.at(-1)?.name ?? null) : null,
      warnings: ignored.length === 0 ? {} : { invalidContextProperties: ignored },
    };
  });
