import { implement } from '@bunting/bus';
import { authorise, DisableFeatures } from '@bunting/contracts';
import { disableFeature } from '../../domain/feature-environments/switch-feature.ts';
import { saveDecisions } from '../save-decisions.ts';
import { lockFeaturesWithContext } from './lock-features-with-context.ts';
import type { FeaturesContext } from '../context.ts';

export const disableFeaturesEndpoint = ({ transaction }: FeaturesContext) =>
  implement(DisableFeatures, (request) =>
    transaction(request, async (tx) => {
      const { params, body, caller } = request;
      const { projectId, environment } = params;
      authorise(caller, DisableFeatures.permission, { project: projectId, environment });
      const { features, projectContext } = await lockFeaturesWithContext(tx, projectId, body.features);
      await saveDecisions(
        tx,
        features.map((feature) => disableFeature(feature, environment, projectContext)),
        caller,
      );
      return null;
    }),
  );
