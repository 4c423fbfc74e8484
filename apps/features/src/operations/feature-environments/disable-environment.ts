import { implement } from '@bunting/bus';
import { DisableEnvironment } from '@bunting/contracts';
import { disableEnvironment } from '../../domain/environments/feature-environment.ts';
import { authorise } from '../authorise.ts';
import { saveAndRecord } from '../save-and-record.ts';
import type { FeaturesContext } from '../context.ts';

export const disableEnvironmentEndpoint = ({ transaction }: FeaturesContext) =>
  implement(DisableEnvironment, (request) =>
    transaction(request, async (tx) => {
      const { params, caller } = request;
      const { environment } = params;
      const { feature, projectContext } = await tx.features.getForUpdate(params.projectId, params.featureName);
      authorise(caller, DisableEnvironment.permission, { project: feature.project, environment });
      await saveAndRecord(tx, disableEnvironment(feature, environment, projectContext), caller);
      return null;
    }),
  );
