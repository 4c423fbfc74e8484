import { implement } from '@bunting/bus';
import { authorise, ReviveFeatures } from '@bunting/contracts';
import { reviveFeature } from '../../domain/archive/revive-feature.ts';
import { requireFeaturesOfProject } from '../../domain/features/require-features-of-project.ts';
import { saveDecisions } from '../save-decisions.ts';
import { requireRevivable } from './require-revivable.ts';
import type { FeaturesContext } from '../context.ts';

export const reviveFeaturesEndpoint = ({ transaction, instanceFeatureLimit }: FeaturesContext) =>
  implement(ReviveFeatures, (request) =>
    transaction(request, async (tx) => {
      const { params, body, caller, now } = request;
      authorise(caller, ReviveFeatures.permission, { project: params.projectId });
      await tx.projects.lockShared({ project: params.projectId });
      const features = await tx.features.findAllForUpdate(body.features);
      requireFeaturesOfProject(features, params.projectId);
      const decisions = features.map((feature) => reviveFeature(feature, now.toISOString()));
      await requireRevivable(tx, decisions, instanceFeatureLimit);
      await saveDecisions(tx, decisions, caller);
      return null;
    }),
  );
