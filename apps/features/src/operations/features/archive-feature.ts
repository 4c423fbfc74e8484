import { implement } from '@bunting/bus';
import { ArchiveFeature } from '@bunting/contracts';
import { archiveFeature } from '../../domain/feature-rules.ts';
import { authorise } from '../authorise.ts';
import { saveAndRecord } from '../save-and-record.ts';
import type { FeaturesContext } from '../context.ts';

export const archiveFeatureEndpoint = ({ transaction }: FeaturesContext) =>
  implement(ArchiveFeature, (request) =>
    transaction(request, async (tx) => {
      const { params, caller, now } = request;
      const feature = await tx.features.getFamilyForUpdate(params.projectId, params.featureName);
      authorise(caller, ArchiveFeature.permission, { project: feature.project });
      // Asked after the lock: a child that came before it is seen, and none comes after.
      const children = await tx.features.childrenOf(feature.name);
      await saveAndRecord(tx, archiveFeature(feature, { children }, now.toISOString()), caller);
      return null;
    }),
  );
