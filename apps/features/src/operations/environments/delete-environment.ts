import { implement } from '@bunting/bus';
import { DeleteEnvironment } from '@bunting/contracts';
import { deleteEnvironment } from '../../domain/environments/environment.ts';
import { environmentNotFound } from '../../domain/refusals.ts';
import type { FeaturesContext } from '../context.ts';

export const deleteEnvironmentEndpoint = ({ transaction }: FeaturesContext) =>
  implement(DeleteEnvironment, (request) =>
    transaction(request, async ({ environments }) => {
      const { params } = request;
      const [environment] = await environments.findForUpdate([params.name]);
      if (environment === undefined) throw environmentNotFound(params.name);
      const event = deleteEnvironment(environment, await environments.firstProjectIds(environment.name));
      await environments.remove(environment.name, [event]);
      return null;
    }),
  );
