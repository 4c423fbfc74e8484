import { implement } from '@bunting/bus';
import { RemoveFeatureLink } from '@bunting/contracts';
import { removeLink } from '../../domain/link.ts';
import type { UnitOfWork } from '../../persistence/unit-of-work.ts';
import { authorise } from '../authorise.ts';
import { carryOut } from '../carry-out.ts';

export const removeFeatureLinkEndpoint = (work: UnitOfWork) =>
  implement(RemoveFeatureLink, (asked) =>
    work(asked, async (tx) => {
      const { params, caller } = asked;
      const { feature } = await tx.features.getForUpdate(params.projectId, params.featureName);
      authorise(caller, RemoveFeatureLink.permission, { project: feature.project });
      await carryOut(tx, removeLink(feature, params.linkId), caller);
      return null;
    }),
  );
