import { implement } from '@bunting/bus';
import { ArchiveFeatures } from '@bunting/contracts';
import { archiveFeatures } from '../../domain/archive.ts';
import { requireOfProject } from '../../domain/batch.ts';
import { authorise } from '../authorise.ts';
import { carryOutAll } from '../carry-out-all.ts';
import type { FeaturesContext } from '../context.ts';

export const archiveFeaturesEndpoint = ({ work }: FeaturesContext) =>
  implement(ArchiveFeatures, (request) =>
    work(request, async (tx) => {
      const { params, body, caller, now } = request;
      authorise(caller, ArchiveFeatures.permission, { project: params.projectId });
      // Their parents are locked as well: they change with what depends on them.
      const named = new Set(body.features);
      const families = await tx.features.findFamiliesForUpdate(body.features);
      const features = families.filter(({ name }) => named.has(name));
      requireOfProject(features, params.projectId);
      const children = await tx.surroundings.childrenOf(features.map(({ name }) => name));
      await carryOutAll(tx, archiveFeatures(features, children, now.toISOString()), caller);
      return null;
    }),
  );
