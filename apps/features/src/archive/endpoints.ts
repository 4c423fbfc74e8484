import { type Endpoint, reads, writes } from '@bunting/bus';
import {
  ArchiveFeature,
  ArchiveFeatures,
  authorise,
  DeleteFeature,
  DeleteFeatures,
  ListArchivedFeatures,
  ListArchivedFeaturesOfProject,
  ReviveFeature,
  ReviveFeatures,
  ValidateArchive,
} from '@bunting/contracts';
import { type FeaturesContext, hiddenProjectsOf } from '../context.ts';
import { requireBelowLimits } from '../features/endpoints.ts';
import { type Decision, type Feature, requireFeaturesOfProject, strategiesOf } from '../features/feature.ts';
import { activeProjectNotFound, noFeatureFlag } from '../refusals.ts';
import { saveDecision, saveDecisions } from '../unit-of-work/save-decisions.ts';
import type { Transaction } from '../unit-of-work/unit-of-work.ts';
import {
  archiveFeature,
  archiveFeatures,
  deleteIfArchived,
  requireChildrenAmong,
  requireUsableReferences,
  reviveFeature,
} from './archive.ts';

export function archiveEndpoints({ archive, transaction, instanceFeatureLimit }: FeaturesContext): readonly Endpoint[] {
  return [
    reads(ListArchivedFeaturesOfProject, ({ params, caller }) => archive.features(params.projectId, caller.id, [])),

    reads(ListArchivedFeatures, ({ caller }) => archive.features(null, caller.id, hiddenProjectsOf(caller))),

    reads(ValidateArchive, async ({ params, body, caller }) => {
      authorise(caller, ValidateArchive.permission, { project: params.projectId });
      return await archive.dependenciesInTheWay(params.projectId, body.features);
    }),

    writes(ArchiveFeature, transaction, async (tx, { params, caller, now }) => {
      const feature = await tx.features.getWithParentsForUpdate(params.projectId, params.featureName);
      authorise(caller, ArchiveFeature.permission, { project: feature.project });
      // Read after the lock, so that no child is added concurrently.
      const children = await tx.features.childrenOf(feature.name);
      await saveDecision(tx, archiveFeature(feature, children, now.toISOString()), caller);
      return null;
    }),

    writes(ArchiveFeatures, transaction, async (tx, { params, body, caller, now }) => {
      authorise(caller, ArchiveFeatures.permission, { project: params.projectId });
      // Locks the parents, too: their states change with their children.
      const named = new Set(body.features);
      const featuresAndParents = await tx.features.findWithParentsForUpdate(body.features);
      const features = featuresAndParents.filter(({ name }) => named.has(name));
      requireFeaturesOfProject(features, params.projectId);
      const children = await tx.features.childrenOfAll(features.map(({ name }) => name));
      await saveDecisions(tx, archiveFeatures(features, children, now.toISOString()), caller);
      return null;
    }),

    writes(ReviveFeature, transaction, async (tx, { params, caller, now }) => {
      await tx.projects.lockShared({ feature: params.featureName });
      const feature = await tx.features.findForUpdate(params.featureName);
      authorise(caller, ReviveFeature.permission, { project: feature?.project });
      if (feature === undefined) throw noFeatureFlag();
      const decision = reviveFeature(feature, now.toISOString());
      await requireRevivable(tx, [decision], instanceFeatureLimit);
      await saveDecision(tx, decision, caller);
      return null;
    }),

    writes(ReviveFeatures, transaction, async (tx, { params, body, caller, now }) => {
      authorise(caller, ReviveFeatures.permission, { project: params.projectId });
      await tx.projects.lockShared({ project: params.projectId });
      const features = await tx.features.findAllForUpdate(body.features);
      requireFeaturesOfProject(features, params.projectId);
      const decisions = features.map((feature) => reviveFeature(feature, now.toISOString()));
      await requireRevivable(tx, decisions, instanceFeatureLimit);
      await saveDecisions(tx, decisions, caller);
      return null;
    }),

    writes(DeleteFeature, transaction, async (tx, { params, caller }) => {
      const feature = await tx.features.findForUpdate(params.featureName);
      authorise(caller, DeleteFeature.permission, { project: feature?.project });
      if (feature === undefined) throw noFeatureFlag();
      await deleteArchivedFeatures(tx, [feature]);
      return null;
    }),

    writes(DeleteFeatures, transaction, async (tx, { params, body, caller }) => {
      authorise(caller, DeleteFeatures.permission, { project: params.projectId });
      const features = await tx.features.findAllForUpdate(body.features);
      requireFeaturesOfProject(features, params.projectId);
      requireChildrenAmong(features, await tx.features.childrenOfAll(features.map(({ name }) => name)));
      await deleteArchivedFeatures(tx, features);
      return null;
    }),
  ];
}

/**
 * Refuses to revive features of one project if the project is not active, a limit of features would be exceeded, or strategies use
 * segments or context fields that were deleted while the features were archived.
 * @param revivals the decisions to revive features; those without events concern features that are active already
 * @param instanceFeatureLimit the maximum number of active features in all projects
 */
async function requireRevivable(
  tx: Pick<Transaction, 'projects' | 'projectContext'>,
  revivals: readonly Decision[],
  instanceFeatureLimit: number | undefined,
): Promise<void> {
  const revived = revivals.filter(({ events }) => events.length > 0).map(({ feature }) => feature);
  const [first] = revived;
  if (first === undefined) return;
  const { project } = await tx.projects.newFeatureContext(first.project, first.name);
  if (project === null) throw activeProjectNotFound(first.project);
  await requireBelowLimits(tx, {
    project: first.project,
    projectFeatureLimit: project.featureLimit,
    instanceFeatureLimit,
    adding: revived.length,
  });
  const strategies = revived.flatMap(strategiesOf);
  if (strategies.length === 0) return;
  const projectContext = await tx.projectContext.ofProject(first.project, {
    texts: strategies.flatMap(({ constraints }) => constraints.map(({ contextName }) => contextName)),
    numbers: strategies.flatMap(({ segments }) => segments),
  });
  if (projectContext !== undefined) requireUsableReferences(revived, projectContext);
}

/** Deletes those of the features that are archived. The others stay. */
export async function deleteArchivedFeatures(
  { features: repository }: Pick<Transaction, 'features'>,
  features: readonly Feature[],
): Promise<void> {
  const decision = deleteIfArchived(features);
  await repository.remove(decision.features, decision.events);
}
