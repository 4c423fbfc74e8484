import { implement } from '@bunting/bus';
import { MoveFeature } from '@bunting/contracts';
import { moveFeature } from '../../domain/features/move-feature.ts';
import { authorise } from '../authorise.ts';
import { saveAndEmit } from '../save-and-emit.ts';
import { requireBelowLimits } from './require-below-limits.ts';
import { noReferenceCandidates } from '../../persistence/projects/project-context-repository.ts';
import type { FeaturesContext } from '../context.ts';

export const moveFeatureEndpoint = ({ transaction }: FeaturesContext) =>
  implement(MoveFeature, (request) =>
    transaction(request, async (tx) => {
      const { params, body, caller } = request;
      const to = body.newProjectId;
      await tx.projects.lockShared({ project: to });
      const { feature, projectContext } = await tx.features.getForUpdate(
        params.projectId,
        params.featureName,
        noReferenceCandidates,
      );
      for (const project of [feature.project, to]) authorise(caller, MoveFeature.permission, { project });
      await tx.guard.checkMove(feature, to);
      const there = await tx.projectContext.ofProject(to, noReferenceCandidates);
      const children = await tx.features.childrenOf(feature.name);
      const decision = moveFeature(feature, { to, source: projectContext, target: there, children });
      const moves = decision.feature !== feature && feature.archivedAt === null;
      const { project } = await tx.projects.newFeatureContext(to, feature.name);
      await requireBelowLimits(tx, {
        project: to,
        projectFeatureLimit: project?.featureLimit ?? null,
        instanceFeatureLimit: undefined,
        adding: moves ? 1 : 0,
      });
      await saveAndEmit(tx, decision, caller);
      return null;
    }),
  );
