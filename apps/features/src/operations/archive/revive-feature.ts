import { implement } from '@bunting/bus';
import { authorise, ReviveFeature } from '@bunting/contracts';
import { reviveFeature } from '../../domain/archive/revive-feature.ts';
import { noFeatureFlag } from '../../domain/refusals.ts';
import { saveDecision } from '../save-decisions.ts';
import { requireRevivable } from './require-revivable.ts';
import type { FeaturesContext } from '../context.ts';

export const reviveFeatureEndpoint = ({ transaction, instanceFeatureLimit }: FeaturesContext) =>
  implement(ReviveFeature, (request) =>
    transaction(request, async (tx) => {
      const { params, caller, now } = request;
      await tx.projects.lockShared({ feature: params.featureName });
      const feature = await tx.features.findForUpdate(params.featureName);
      authorise(caller, ReviveFeature.permission, { project: feature?.project });
      if (feature === undefined) throw noFeatureFlag();
      const decision = reviveFeature(feature, now.toISOString());
      await requireRevivable(tx, [decision], instanceFeatureLimit);
      await saveDecision(tx, decision, caller);
      return null;
    }),
  );
