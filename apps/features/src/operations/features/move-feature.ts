import { implement } from '@bunting/bus';
import { authorise, MoveFeature } from '@bunting/contracts';
import { featuresAddedByMove, moveFeature } from '../../domain/features/move-feature.ts';
import { saveDecision } from '../save-decisions.ts';
import { requireBelowLimits } from './require-below-limits.ts';
import { noReferences } from '../../persistence/projects/project-context-reader.ts';
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
  );
