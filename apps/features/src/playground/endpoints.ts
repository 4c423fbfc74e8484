import { type Endpoint, implement } from '@bunting/bus';
import {
  type AdvancedPlaygroundResult,
  EvaluateAdvancedPlayground,
  EvaluateImpact,
  EvaluatePlayground,
  EvaluatePlaygroundTable,
  type PlaygroundCell,
  projectNotFound,
} from '@bunting/contracts';
import { parseChanges } from '@bunting/contracts/validation';
import { featureNamesOf, segmentIdsOf } from '../changes/subjects-of-changes.ts';
import { affectedFeatures, maxFeaturesOfImpact } from './affected-features.ts';
import { computeImpactOnUsers } from './impact-on-users.ts';
import { combinationsOf, combinationsOfAll, readContext } from './playground-contexts.ts';
import { playgroundEvaluator, tableCellEvaluator } from './playground-evaluators.ts';
import { maxFeatures, requireShowable } from './playground-limits.ts';
import { featureNamesToRead } from '../changes/change-context-query.ts';
import type { FeaturesContext } from '../context.ts';
import {
  changesOf,
  contentAfterProposal,
  type ProposedChanges,
  readProposedChanges,
  segmentCandidatesIn,
} from './proposed-changes.ts';
import { readPlaygroundContent, requireEnvironments, selectedProjects } from './read-playground-content.ts';
import { hiddenProjectsOf } from '../visibility.ts';

export function playgroundEndpoints(context: FeaturesContext): readonly Endpoint[] {
  return [
    implement(EvaluateAdvancedPlayground, async (request) => {
      const { body, now } = request;
      const environments = [...new Set(body.environments)];
      const { fields, ignored } = readContext(body.context);
      const combinations = combinationsOf(fields);
      const content = await readPlaygroundContent(context, request, {
        ...body,
        environments,
        environmentsPath: '/body/environments',
        contexts: combinations.length,
      });
      const names = body.features && new Set(body.features);
      const selectedContent = { ...content, features: content.features.filter(({ name }) => names?.has(name) ?? true) };
      requireShowable(selectedContent, environments, combinations.length);
      const results = new Map<
        string,
        Omit<FeatureResult, 'environments'> & { environments: EvaluationsByEnvironment }
      >();
      for (const environment of environments) {
        const { evaluate } = playgroundEvaluator(content, environment, names);
        for (const combination of combinations) {
          const fieldsInEnvironment = new Map([...combination, ['environment', environment]]);
          for (const feature of evaluate({ fields: fieldsInEnvironment, now, random: Math.random })) {
            const { name, projectId } = feature;
            const result = results.get(name) ?? { name, projectId, environments: new Map() };
            results.set(name, result);
            const evaluations = result.environments.get(environment) ?? [];
            result.environments.set(environment, evaluations);
            evaluations.push({ ...feature, environment, context: Object.fromEntries(combination) });
          }
        }
      }
      return {
        input: body,
        features: [...results.values()].map((result) => ({
          ...result,
          environments: Object.fromEntries(result.environments),
        })),
        warnings: ignored.length === 0 ? {} : { invalidContextProperties: ignored },
      };
    }),

    implement(EvaluateImpact, async (request) => {
      const { body, caller, now } = request;
      const { project, environment, contexts = [] } = body;
      const changes = parseChanges(body.changes);
      const hidden = hiddenProjectsOf(caller);
      if (hidden.includes(project)) throw projectNotFound(project);
      const proposal = { project, environment, changes: changes.map((change, id) => ({ id, change, snapshot: null })) };
      const before = await context.readPlayground.ofFeatures([environment], {
        usingSegments: segmentIdsOf(changes),
        names: featureNamesToRead(changes),
        segments: segmentCandidatesIn(proposal),
        limit: maxFeaturesOfImpact + 1,
      });
      requireEnvironments(before, [environment], '/body/environment');
      const after = await contentAfterProposal(before, proposal, context, request);
      const names = affectedFeatures(before, changes, environment, hidden);
      return computeImpactOnUsers({ before, after }, environment, names, {
        examples: contexts.map((example) => readContext(example).fields),
        now,
      });
    }),

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
          {
            current: tableCellEvaluator(before, environment),
            proposed: after && tableCellEvaluator(after, environment),
          },
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
    }),

    implement(EvaluatePlayground, async (request) => {
      const { body, now } = request;
      const { environment } = body;
      const { fields } = readContext(body.context);
      const content = await readPlaygroundContent(context, request, {
        ...body,
        environments: [environment],
        environmentsPath: '/body/environment',
        contexts: 1,
      });
      const { evaluate } = playgroundEvaluator(content, environment);
      return {
        input: body,
        features: evaluate({ fields: new Map([...fields, ['environment', environment]]), now, random: Math.random }),
      };
    }),
  ];
}

type FeatureResult = AdvancedPlaygroundResult['features'][number];

type EvaluationsByEnvironment = Map<string, FeatureResult['environments'][string]>;

const defaultPageSize = 100;

const isSame = (one: PlaygroundCell, other: PlaygroundCell): boolean =>
  one.isEnabled === other.isEnabled && one.variant === other.variant && one.isUnknown === other.isUnknown;

/** The features and segments that a change request changes. */
const subjectsChangedBy = (proposal: ProposedChanges) => ({
  names: featureNamesOf(changesOf(proposal)),
  segments: segmentIdsOf(changesOf(proposal)),
});
