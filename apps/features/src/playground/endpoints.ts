import { type Endpoint, implement, onBehalfOf, type OperationRequest } from '@bunting/bus';
import {
  type AdvancedPlaygroundBody,
  type AdvancedPlaygroundResult,
  type AnyOperation,
  type Change,
  type ChangeWithSnapshot,
  EvaluateAdvancedPlayground,
  EvaluateImpact,
  EvaluatePlayground,
  EvaluatePlaygroundTable,
  type PlaygroundBody,
  type PlaygroundCell,
  projectNotFound,
  ReadProposedChanges,
} from '@bunting/contracts';
import { decodeIdBlock, decodeRootBlock } from '@bunting/contracts/id-blocks';
import { parseChanges } from '@bunting/contracts/validation';
import { blockOfId, type EvaluableList, idList, readIdBlock } from '@bunting/evaluation';
import { call } from '../calls.ts';
import { applyInMemory } from '../changes/apply-in-memory.ts';
import { featureNamesOf, segmentIdsOf } from '../changes/change-context.ts';
import { requireNoConflict } from '../changes/conflicts.ts';
import { changeContextQuery, featureNamesToRead, toChangeContext } from '../changes/endpoints.ts';
import { type FeaturesContext, hiddenProjectsOf } from '../context.ts';
import { possibleReferencesIn } from '../projects/project-context-store.ts';
import { unknownEnvironment } from '../refusals.ts';
import { affectedFeatures, computeImpactOnUsers, matchesOf, maxFeaturesOfImpact } from './impact-on-users.ts';
import { playgroundEvaluator, tableCellEvaluator } from './playground-evaluators.ts';
import type { StoredPlaygroundContent } from './playground-store.ts';
import {
  combinationsOf,
  combinationsOfAll,
  maxFeatures,
  type PlaygroundContent,
  type PlaygroundSegment,
  readContext,
  requireFeaturesWithin,
  requireShowable,
  withChanges,
} from './playground.ts';

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
        contexts: combinations,
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
      const { project, environment, contexts = [], constraints } = body;
      const changes = body.changes === undefined && constraints !== undefined ? [] : parseChanges(body.changes);
      const hidden = hiddenProjectsOf(caller);
      if (hidden.includes(project)) throw projectNotFound(project);
      const proposal = { project, environment, changes: changes.map((change, id) => ({ id, change, snapshot: null })) };
      const examples = contexts.map((example) => readContext(example).fields);
      const stored = await context.readPlayground.ofFeatures([environment], {
        usingSegments: segmentIdsOf(changes),
        names: featureNamesToRead(changes),
        segments: segmentCandidatesIn(proposal),
        hidden,
        limit: maxFeaturesOfImpact + 1,
      });
      const before = await withLists(stored, examples, context);
      requireEnvironments(before, [environment], '/body/environment');
      const after = await contentAfterProposal(before, proposal, examples, context, request);
      const affected = affectedFeatures(before, changes, environment, hidden);
      const impact = computeImpactOnUsers({ before, after }, environment, affected, { examples, now });
      if (constraints === undefined) return impact;
      const matches = constraints.map((constraint) => matchesOf(constraint, examples, { environment, now }));
      return { ...impact, constraints: matches.map((ofUsers) => ({ matches: ofUsers })) };
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
      const stored = await context.readPlayground.ofPage(environments, {
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
      const before = await withLists(stored, combinations, context);
      requireEnvironments(before, environments, '/body/environments');
      const after =
        proposal === undefined
          ? undefined
          : await contentAfterProposal(before, proposal, combinations, context, request);
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
        contexts: [fields],
      });
      const { evaluate } = playgroundEvaluator(content, environment);
      return {
        input: body,
        features: evaluate({ fields: new Map([...fields, ['environment', environment]]), now, random: Math.random }),
      };
    }),
  ];
}

/** The changes of a change request, and where they are to be applied. */
interface ProposedChanges {
  readonly project: string;
  readonly environment: string;
  readonly changes: readonly ChangeWithSnapshot[];
}

/** The changes of a change request. @throws Refusal when the caller can see no change request with the id */
function readProposedChanges(
  { bus }: FeaturesContext,
  request: OperationRequest<AnyOperation>,
  id: number,
): Promise<ProposedChanges> {
  return call(bus, ReadProposedChanges, { body: { id } }, onBehalfOf(request));
}

/** The changes of a proposal, without their ids and snapshots. */
function changesOf({ changes }: ProposedChanges): Change[] {
  return changes.map(({ change }) => change);
}

/** The ids of segments that changes may refer to. */
function segmentCandidatesIn(proposal: ProposedChanges): readonly number[] {
  return possibleReferencesIn(changesOf(proposal)).numbers;
}

/**
 * The content as it would be if changes were applied.
 * @param contexts for which it is evaluated: it has those ids of lists that one of them has
 * @throws Refusal `NotFoundError` when their project does not exist, `ConflictError` when they could not be applied
 */
async function contentAfterProposal(
  content: PlaygroundContent,
  proposal: ProposedChanges,
  contexts: readonly ReadonlyMap<string, string>[],
  { readChangeContext, segmentLists }: Pick<FeaturesContext, 'readChangeContext' | 'segmentLists'>,
  { caller, now }: OperationRequest<AnyOperation>,
): Promise<PlaygroundContent> {
  const { project, environment, changes } = proposal;
  const stored = await readChangeContext(changeContextQuery(project, changesOf(proposal)), hiddenProjectsOf(caller));
  if (stored === undefined) throw projectNotFound(project);
  const { features, segments, conflicts } = applyInMemory(changes, toChangeContext(stored, environment, now));
  requireNoConflict(conflicts);
  const lists = new Map<number, EvaluableList>();
  for (const { change } of changes) {
    if (change.action !== 'updateSegmentList') continue;
    const { id, contextName, root } = change.payload;
    if (contextName !== null && root !== null)
      lists.set(id, await listWithin({ contextName, root }, contexts, segmentLists));
  }
  return withChanges(content, {
    lists,
    features: features.values(),
    segments: new Map([...stored.segments.keys()].map((id) => [id, segments.get(id) ?? null])),
  });
}

type FeatureResult = AdvancedPlaygroundResult['features'][number];

type EvaluationsByEnvironment = Map<string, FeatureResult['environments'][string]>;

const defaultPageSize = 100;

function isSame(one: PlaygroundCell, other: PlaygroundCell): boolean {
  return one.isEnabled === other.isEnabled && one.variant === other.variant && one.isUnknown === other.isUnknown;
}

/** The features and segments that a change request changes. */
function subjectsChangedBy(proposal: ProposedChanges) {
  return {
    names: featureNamesOf(changesOf(proposal)),
    segments: segmentIdsOf(changesOf(proposal)),
  };
}

interface ContentSelection extends Pick<AdvancedPlaygroundBody, 'projects' | 'changeRequest' | 'features'> {
  readonly environments: readonly string[];
  /** the JSON pointer of the environments in the request */
  readonly environmentsPath: string;
  /** for which each feature is to be evaluated in each environment */
  readonly contexts: readonly ReadonlyMap<string, string>[];
}

/** The content with those ids of the lists of its segments that the contexts have. */
async function withLists<C extends StoredPlaygroundContent>(
  content: C,
  contexts: readonly ReadonlyMap<string, string>[],
  { segmentLists }: Pick<FeaturesContext, 'segmentLists'>,
): Promise<Omit<C, 'segments'> & PlaygroundContent> {
  const segments: PlaygroundSegment[] = [];
  for (const { listRoot, listField, ...segment } of content.segments) {
    if (listRoot === undefined || listField === undefined) {
      segments.push(segment);
      continue;
    }
    const list = { contextName: listField, root: listRoot };
    segments.push({ ...segment, list: await listWithin(list, contexts, segmentLists) });
  }
  return { ...content, segments };
}

/** A list with those of its ids that one of the contexts has. */
async function listWithin(
  { contextName, root }: Readonly<Record<'contextName' | 'root', string>>,
  contexts: readonly ReadonlyMap<string, string>[],
  segmentLists: FeaturesContext['segmentLists'],
): Promise<EvaluableList> {
  const values = new Set(contexts.flatMap((fields) => fields.get(contextName) ?? []));
  return { contextName, ids: await idsAmong(Buffer.from(root, 'hex'), [...values], segmentLists) };
}

/** The blocks that are read at a time: a megabyte. */
const blocksAtOnce = 32;

/** Those of some values that are ids of a list. @param root the hash of the block that lists its blocks */
async function idsAmong(
  root: Buffer,
  values: readonly string[],
  { blocks }: FeaturesContext['segmentLists'],
): Promise<ReadonlySet<string>> {
  const [rootBlock] = await blocks([root]);
  const found = new Set<string>();
  // It was replaced more than a day ago, since the content was read.
  if (rootBlock === undefined) return found;
  const hashes = decodeRootBlock(rootBlock);
  const valuesOf = Map.groupBy(values, (value) => blockOfId(value, hashes.length));
  const indexes = [...valuesOf.keys()];
  for (let from = 0; from < indexes.length; from += blocksAtOnce) {
    const wanted = indexes.slice(from, from + blocksAtOnce);
    const stored = await blocks(wanted.map((index) => hashes[index] as Buffer));
    const byHash = new Map(stored.map((block) => [block.hash.toString('hex'), block]));
    for (const index of wanted) {
      const block = byHash.get((hashes[index] as Buffer).toString('hex'));
      if (block === undefined) continue;
      const { has } = idList([readIdBlock(decodeIdBlock(block))]);
      for (const value of valuesOf.get(index) ?? []) if (has(value)) found.add(value);
    }
  }
  return found;
}

/** The projects of a request; undefined for all projects. */
function selectedProjects(projects: PlaygroundBody['projects']): string[] | undefined {
  return projects === undefined || projects === '*' || projects.length === 0 || projects.includes('*')
    ? undefined
    : (projects as string[]);
}

/** @throws Refusal when an environment does not exist, with the path at which the request names it */
function requireEnvironments(
  { environments: existing }: PlaygroundContent,
  environments: readonly string[],
  path: string,
): void {
  const missing = environments.find((environment) => !existing.includes(environment));
  if (missing !== undefined) throw unknownEnvironment(missing, path);
}

/**
 * Reads what the playground evaluates in each environment: what is stored, or what would be if a change request were applied.
 * @throws Refusal for an unknown environment, for more evaluations than the limit, and for a change request with conflicts
 */
async function readPlaygroundContent(
  context: FeaturesContext,
  request: OperationRequest<AnyOperation>,
  { environments, environmentsPath, contexts, projects, changeRequest, features }: ContentSelection,
): Promise<PlaygroundContent> {
  const limit = maxFeatures(environments.length * contexts.length);
  const proposal = changeRequest === undefined ? undefined : await readProposedChanges(context, request, changeRequest);
  const selected = selectedProjects(projects);
  const selection = {
    ...(selected === undefined ? {} : { projects: selected }),
    ...(proposal === undefined ? {} : { segments: segmentCandidatesIn(proposal) }),
    hidden: hiddenProjectsOf(request.caller),
    limit: limit + 1,
  };
  const alsoNames = proposal && featureNamesToRead(changesOf(proposal));
  const stored =
    features === undefined
      ? await context.readPlayground.ofProjects(environments, selection)
      : await context.readPlayground.ofPage(environments, { ...selection, names: features, alsoNames });
  const content = await withLists(stored, contexts, context);
  requireEnvironments(content, environments, environmentsPath);
  requireFeaturesWithin(content, limit);
  if (proposal === undefined) return content;
  return contentAfterProposal(content, proposal, contexts, context, request);
}
