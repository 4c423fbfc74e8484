import { type Endpoint, implement, reads, writes } from '@bunting/bus';
import {
  authorise,
  CloneFeature,
  CreateFeature,
  GetFeature,
  ListFeatures,
  ListFeatureTypes,
  ListFlagCreatorsOfProject,
  maySee,
  MoveFeature,
  parseTag,
  PatchFeature,
  SearchFlagCreators,
  SetFeatureTypeLifetime,
  SetStale,
  UpdateFeature,
  ValidateFeatureName,
} from '@bunting/contracts';
import { randomUUID } from 'node:crypto';
import { setLifetime } from './feature-type.ts';
import { cloneFeature } from './clone-feature.ts';
import { createFeature } from './create-feature.ts';
import { featureWithoutEnvironments } from './feature-without-environments.ts';
import { featuresAddedByMove, moveFeature } from './move-feature.ts';
import { requireFeaturesOfProject } from './require-features-of-project.ts';
import { markStale, patchFeature, updateFeature } from './update-feature.ts';
import { requireMatchingName, requireUrlFriendlyName } from '../names.ts';
import { featureNameTaken, featureTypeNotFound } from '../refusals.ts';
import { authorOf } from '../unit-of-work/author.ts';
import type { FeaturesContext } from '../context.ts';
import { decideCreateOrClone } from './decide-create-or-clone.ts';
import { requireBelowLimits } from './require-below-limits.ts';
import { saveDecision, saveDecisions } from '../unit-of-work/save-decisions.ts';
import { addTagsToCatalogue, pathOfType } from '../tags/add-tags-to-catalogue.ts';
import { hiddenProjectsOf } from '../visibility.ts';
import { noReferences } from '../projects/project-context-reader.ts';

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

    writes(UpdateFeature, transaction, async (tx, { params, body, caller }) => {
      const { feature } = await tx.features.getForUpdate(params.projectId, params.featureName, noReferences);
      authorise(caller, UpdateFeature.permission, { project: feature.project });
      return featureWithoutEnvironments(await saveDecision(tx, updateFeature(feature, body), caller));
    }),

    writes(PatchFeature, transaction, async (tx, { params, body, caller }) => {
      const { feature } = await tx.features.getForUpdate(params.projectId, params.featureName, noReferences);
      authorise(caller, PatchFeature.permission, { project: feature.project });
      return featureWithoutEnvironments(await saveDecision(tx, patchFeature(feature, body), caller));
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

    reads(ListFlagCreatorsOfProject, ({ params }) => flagCreators.ofProject(params.projectId)),

    /** Searches the creators of features in all projects that the caller may see. */
    reads(SearchFlagCreators, async ({ caller, query }) => {
      const { q = '', offset = 0, limit = 50 } = query;
      return await flagCreators.search(hiddenProjectsOf(caller), q.trim().toLowerCase(), { offset, limit });
    }),
  ];
}
