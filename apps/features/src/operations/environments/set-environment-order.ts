import { implement } from '@bunting/bus';
import { SetEnvironmentOrder } from '@bunting/contracts';
import { updateEnvironment } from '../../domain/environments/environment.ts';
import { environmentNotFound } from '../../domain/refusals.ts';
import { saveEnvironments } from './save-environments.ts';
import type { FeaturesContext } from '../context.ts';

export const setEnvironmentOrderEndpoint = ({ transaction }: FeaturesContext) =>
  implement(SetEnvironmentOrder, (request) =>
    transaction(request, async (tx) => {
      const environments = await tx.environments.findForUpdate(Object.keys(request.body));
      const decisions = Object.entries(request.body).map(([name, sortOrder]) => {
        const environment = environments.find((candidate) => candidate.name === name);
        if (environment === undefined) throw environmentNotFound(name);
        return updateEnvironment(environment, { sortOrder });
      });
      await saveEnvironments(tx, decisions);
      return null;
    }),
  );
