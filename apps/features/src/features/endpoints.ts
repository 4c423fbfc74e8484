import { randomUUID } from 'node:crypto';
import { type Endpoint, implement, type OperationRequest, reads, writes } from '@bunting/bus';
import {
  type Access,
  type AnyOperation,
  authorise,
  CloneFeature,
  CreateFeature,
  GetFeature,
  ListFeatureFollowers,
  ListFeatures,
  ListFeatureTypes,
  ListFlagCreatorsOfProject,
  maySee,
  MoveFeature,
  parseTag,
  PatchFeature,
  type ReplyOf,
  type RequestOf,
  SearchFlagCreators,
  SetFeatureTypeLifetime,
  SetStale,
  UpdateFeature,
  ValidateFeatureName,
} from '@bunting/contracts';
import { type FeaturesContext, hiddenProjectsOf } from '../context.ts';
import { type FeatureNaming, requireMatchingName, requireUrlFriendlyName } from '../names.ts';
import { noReferences, type PossibleReferences } from '../projects/project-context-store.ts';
import type { ProjectContext } from '../projects/project-context.ts';
import { activeProjectNotFound, featureNameTaken, featureTypeNotFound } from '../refusals.ts';
import { addTagsToCatalogue, pathOfType } from '../tags/endpoints.ts';
import { authorOf, saveDecision, saveDecisions } from '../unit-of-work/save-decisions.ts';
import type { Transaction, UnitOfWork } from '../unit-of-work/unit-of-work.ts';
import {
  featuresAddedByMove,
  markStale,
  moveFeature,
  patchFeature,
  setLifetime,
  updateFeature,
} from './edit-feature.ts';
import { type Decision, type Feature, featureWithoutEnvironments, requireFeaturesOfProject } from './feature.ts';
import { cloneFeature, createFeature, requireWithinInstanceLimit, requireWithinProjectLimit } from './new-feature.ts';

export function featureEndpoints({
  features,
  projects,
  transaction,
  instanceFeatureLimit,
  featureTypes,
  flagCreators,
}: FeaturesContext): readonly Endpoint[] {
  return [
    reads(ListFeatures, async ({ params, query, caller }) => {
      const tags = query.tag?.map((tag, index) => parseTag(tag, `/query/tag/${index}`));
      const { namePrefix, limit, offset } = query;
      return await features.ofProject(params.projectId, caller.id, { tags, namePrefix, limit, offset });
    }),

    reads(GetFeature, ({ params, query, caller }) =>
      features.one(params, caller.id, query.variantEnvironments === 'true'),
    ),

    implement(ValidateFeatureName, async ({ body, caller }) => {
      const { name } = body;
      const projectId = body.projectId ?? '';
      requireUrlFriendlyName(name);
      const { taken, project } = await projects.newFeatureContext(maySee(caller, projectId) ? projectId : '', name);
      if (taken !== null) throw featureNameTaken(taken);
      requireMatchingName(name, project?.naming);
      return null;
    }),

    writes(CreateFeature, transaction, async (tx, { params, body, caller, now }) => {
      const { projectId: project } = params;
      authorise(caller, CreateFeature.permission, { project });
      await tx.projects.lockShared({ project });
      const { feature, events } = await decideCreateOrClone(
        tx,
        { project, name: body.name, instanceFeatureLimit },
        (naming) => createFeature(body, { project, now: now.toISOString(), author: authorOf(caller), naming }),
      );
      await addTagsToCatalogue(tx, feature.tags, pathOfType(body.tags ?? [], '/body/tags'));
      await tx.features.add([feature], events);
      return featureWithoutEnvironments(feature);
    }),

    writes(CloneFeature, transaction, async (tx, { params, body, caller, now }) => {
      const { projectId: project } = params;
      await tx.projects.lockShared({ project });
      // Locks the parent, too: the clone becomes another child of it.
      const source = await tx.features.getWithParentsForUpdate(project, params.featureName);
      authorise(caller, CloneFeature.permission, { project: source.project });
      await tx.guard.checkClone(body.name, project);
      const origin = { project, now: now.toISOString(), author: authorOf(caller) };
      const { feature, events } = await decideCreateOrClone(
        tx,
        { project, name: body.name, instanceFeatureLimit },
        (naming) => cloneFeature(source, body, { ...origin, naming }, randomUUID),
      );
      await tx.features.addClone(source, feature, events);
      return featureWithoutEnvironments(feature);
    }),

    editFeature(UpdateFeature, transaction, {
      rule: (feature, { body }) => updateFeature(feature, body),
      reply: featureWithoutEnvironments,
    }),

    editFeature(PatchFeature, transaction, {
      rule: (feature, { body }) => patchFeature(feature, body),
      reply: featureWithoutEnvironments,
    }),

    writes(SetStale, transaction, async (tx, { params, body, caller }) => {
      authorise(caller, SetStale.permission, { project: params.projectId });
      const features = await tx.features.findAllForUpdate(body.features);
      requireFeaturesOfProject(features, params.projectId);
      await saveDecisions(
        tx,
        features.map((feature) => markStale(feature, body.stale)),
        caller,
      );
      return null;
    }),

    writes(MoveFeature, transaction, async (tx, { params, body, caller }) => {
      const to = body.newProjectId;
      await tx.projects.lockShared({ project: to });
      const { feature, projectContext } = await tx.features.getForUpdate(
        params.projectId,
        params.featureName,
        noReferences,
      );
      for (const project of [feature.project, to]) authorise(caller, MoveFeature.permission, { project });
      await tx.guard.checkMove(feature, to);
      const target = await tx.projectContext.ofProject(to, noReferences);
      const children = await tx.features.childrenOf(feature.name);
      const decision = moveFeature(feature, { to, source: projectContext, target, children });
      const { project } = await tx.projects.newFeatureContext(to, feature.name);
      await requireBelowLimits(tx, {
        project: to,
        projectFeatureLimit: project?.featureLimit ?? null,
        instanceFeatureLimit: undefined,
        adding: featuresAddedByMove(feature, decision.feature),
      });
      await saveDecision(tx, decision, caller);
      return null;
    }),

    reads(ListFeatureTypes, () => featureTypes.all()),

    writes(SetFeatureTypeLifetime, transaction, async ({ featureTypes }, { params, body }) => {
      const before = await featureTypes.findForUpdate(params.id);
      if (before === undefined) throw featureTypeNotFound(params.id);
      const decision = setLifetime(before, body.lifetimeDays);
      await featureTypes.save(before, decision.type, decision.events);
      return decision.type;
    }),

    reads(ListFeatureFollowers, ({ body }) => flagCreators.followersOf(body.names)),
    reads(ListFlagCreatorsOfProject, ({ params }) => flagCreators.ofProject(params.projectId)),

    /** Searches the creators of features in all projects that the caller may see. */
    reads(SearchFlagCreators, async ({ caller, query }) => {
      const { q = '', offset = 0, limit = 50 } = query;
      return await flagCreators.search(hiddenProjectsOf(caller), q.trim().toLowerCase(), { offset, limit });
    }),
  ];
}

export interface AddedFeatures {
  readonly project: string;
  /** the maximum number of active features of the project; null for no limit */
  readonly projectFeatureLimit: number | null;
  /** the maximum number of active features in all projects; undefined for no limit */
  readonly instanceFeatureLimit: number | undefined;
  readonly adding: number;
}

/** Refuses features that would exceed a limit. Concurrent transactions that add features wait, so that the limits are exact. */
export async function requireBelowLimits(
  { projects }: Pick<Transaction, 'projects'>,
  { project, projectFeatureLimit, instanceFeatureLimit, adding }: AddedFeatures,
): Promise<void> {
  if (projectFeatureLimit !== null) {
    const features = (await projects.lockAndCountFeatures(project)) + adding;
    requireWithinProjectLimit({ limit: projectFeatureLimit, features });
  }
  if (instanceFeatureLimit !== undefined) {
    const features = (await projects.lockAndCountFeatures(undefined)) + adding;
    requireWithinInstanceLimit({ limit: instanceFeatureLimit, features });
  }
}

interface NewFeature {
  /** a project that the transaction has locked */
  readonly project: string;
  readonly name: string;
  /** the maximum number of active features in all projects; undefined for no limit */
  readonly instanceFeatureLimit: number | undefined;
}

/**
 * Decides by a rule about one feature that is created or cloned; `decideImport` decides about imported ones. Refuses in this order: a name
 * that is invalid or taken, what the rule refuses, a project that is archived or does not exist, and one feature more than a limit.
 * @param rule creates the feature in a project with the given pattern for names
 */
async function decideCreateOrClone(
  tx: Pick<Transaction, 'projects'>,
  { project: id, name, instanceFeatureLimit }: NewFeature,
  rule: (naming: FeatureNaming | null) => Decision,
): Promise<Decision> {
  requireUrlFriendlyName(name);
  const { taken, project } = await tx.projects.newFeatureContext(id, name);
  if (taken !== null) throw featureNameTaken(taken);
  const decision = rule(project?.naming ?? null);
  if (project === null) throw activeProjectNotFound(id);
  const { featureLimit: projectFeatureLimit } = project;
  await requireBelowLimits(tx, { project: id, projectFeatureLimit, instanceFeatureLimit, adding: 1 });
  return decision;
}

/** The parameters of an operation that edits a feature, or its settings in an environment. */
interface FeatureParams {
  readonly projectId: string;
  readonly featureName: string;
  readonly environment?: string;
}

interface FeatureEdit<O extends AnyOperation> {
  /** the objects of the project context that the rule may need besides those that the feature uses already; none if omitted */
  readonly references?: (body: RequestOf<O>['body']) => PossibleReferences;
  readonly rule: (feature: Feature, request: OperationRequest<O>, projectContext: ProjectContext) => Decision;
  readonly reply: (after: Feature, request: OperationRequest<O>, projectContext: ProjectContext) => ReplyOf<O>;
}

/**
 * Implements an operation by a rule about one feature, which is locked. The caller needs the permission of the operation in the project of
 * the feature, and in the environment if the operation has one.
 */
export function editFeature<O extends AnyOperation & { readonly permission: Access }>(
  operation: O & (RequestOf<O> extends { readonly params: FeatureParams } ? unknown : never),
  transaction: UnitOfWork,
  { references = () => noReferences, rule, reply }: FeatureEdit<O>,
): Endpoint {
  return writes<O, Transaction>(operation, transaction.edit, async (tx, request) => {
    const { projectId, featureName, environment } = request.params as FeatureParams;
    const { feature, projectContext } = await tx.features.getForUpdate(
      projectId,
      featureName,
      references(request.body),
    );
    authorise(request.caller, operation.permission, { project: feature.project, environment });
    const after = await saveDecision(tx, rule(feature, request, projectContext), request.caller);
    return reply(after, request, projectContext);
  });
}
