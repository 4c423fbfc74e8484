import { implement } from '@bunting/bus';
import { ArchiveFeature, authorise } from '@bunting/contracts';
import { archiveFeature } from '../../domain/archive/archive-feature.ts';
import { saveDecision } from '../save-decisions.ts';
import type { FeaturesContext } from '../context.ts';

export const archiveFeatureEndpoint = ({ transaction }: FeaturesContext) =>
  implement(ArchiveFeature, (request) =>
    transaction(request, async (tx) => {
      const { params, caller, now } = request;
      const feature = await tx.features.getWithParentsForUpdate(params.projectId, params.featureName);
      authorise(caller, ArchiveFeature.permission, { project: feature.project });
      // Read after the lock, so that no child is added concurrently.
      const children = await tx.features.childrenOf(feature.name);
      await saveDecision(tx, archiveFeature(feature, children, now.toISOString()), caller);
      return null;
    }),
  );
