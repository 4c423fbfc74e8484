import { implement } from '@bunting/bus';
import { ArchiveFeatures, authorise } from '@bunting/contracts';
import { archiveFeatures } from '../../domain/archive/archive-feature.ts';
import { requireFeaturesOfProject } from '../../domain/features/require-features-of-project.ts';
import { saveDecisions } from '../save-decisions.ts';
import type { FeaturesContext } from '../context.ts';

export const archiveFeaturesEndpoint = ({ transaction }: FeaturesContext) =>
  implement(ArchiveFeatures, (request) =>
    transaction(request, async (tx) => {
      const { params, body, caller, now } = request;
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
  );
