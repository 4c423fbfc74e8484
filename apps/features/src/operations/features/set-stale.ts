import { implement } from '@bunting/bus';
import { authorise, SetStale } from '@bunting/contracts';
import { requireFeaturesOfProject } from '../../domain/features/require-features-of-project.ts';
import { markStale } from '../../domain/features/update-feature.ts';
import { saveDecisions } from '../save-decisions.ts';
import type { FeaturesContext } from '../context.ts';

export const setStaleEndpoint = ({ transaction }: FeaturesContext) =>
  implement(SetStale, (request) =>
    transaction(request, async (tx) => {
      const { params, body, caller } = request;
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
  );
