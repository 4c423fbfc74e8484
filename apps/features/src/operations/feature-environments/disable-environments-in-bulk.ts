import { implement } from '@bunting/bus';
import { DisableEnvironmentsInBulk } from '@bunting/contracts';
import { disableEnvironment } from '../../domain/environments/feature-environment.ts';
import { authorise } from '../authorise.ts';
import { saveAllAndRecord } from '../save-and-record.ts';
import { lockFeatures } from './lock-features.ts';
import type { FeaturesContext } from '../context.ts';

export const disableEnvironmentsInBulkEndpoint = ({ transaction }: FeaturesContext) =>
  implement(DisableEnvironmentsInBulk, (request) =>
    transaction(request, async (tx) => {
      const { params, body, caller } = request;
      const { projectId, environment } = params;
      authorise(caller, DisableEnvironmentsInBulk.permission, { project: projectId, environment });
      const { features, projectContext } = await lockFeatures(tx, projectId, body.features);
      await saveAllAndRecord(
        tx,
        features.map((feature) => disableEnvironment(feature, environment, projectContext)),
        caller,
      );
      return null;
    }),
  );
