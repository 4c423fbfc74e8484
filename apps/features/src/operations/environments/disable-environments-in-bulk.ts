import { implement } from '@bunting/bus';
import { DisableEnvironmentsInBulk } from '@bunting/contracts';
import { disableEnvironment } from '../../domain/environments.ts';
import { authorise } from '../authorise.ts';
import { carryOutAll } from '../carry-out-all.ts';
import { lockFeatures } from './lock-features.ts';
import type { FeaturesContext } from '../context.ts';

export const disableEnvironmentsInBulkEndpoint = ({ work }: FeaturesContext) =>
  implement(DisableEnvironmentsInBulk, (request) =>
    work(request, async (tx) => {
      const { params, body, caller } = request;
      const { projectId: project, environment } = params;
      authorise(caller, DisableEnvironmentsInBulk.permission, { project, environment });
      const { features, surroundings } = await lockFeatures(tx, project, body.features);
      await carryOutAll(
        tx,
        features.map((feature) => disableEnvironment(feature, environment, surroundings)),
        caller,
      );
      return null;
    }),
  );
