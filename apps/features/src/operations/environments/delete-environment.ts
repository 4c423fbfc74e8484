import { implement } from '@bunting/bus';
import { DeleteEnvironment, notFound, refusal } from '@bunting/contracts';
import { shortName } from '../../domain/refusals.ts';
import { authoriseAtRoot } from '../authorise-at-root.ts';
import type { FeaturesContext } from '../context.ts';

export const deleteEnvironmentEndpoint = ({ transaction }: FeaturesContext) =>
  implement(DeleteEnvironment, (request) =>
    transaction(request, async ({ environments, events }) => {
      const { params, caller } = request;
      authoriseAtRoot(caller, DeleteEnvironment.permission);
      const [environment] = await environments.findForUpdate([params.name]);
      if (environment === undefined) throw notFound(`Could not find environment with name: ${shortName(params.name)}`);
      const { name } = environment;
      if (environment.protected) {
        throw refusal('OperationDeniedError', `The environment ${name} is protected and cannot be deleted`);
      }
      const projects = await environments.projectIds(name);
      if (projects.length > 0) {
        const some = projects.slice(0, 10).join(', ');
        throw refusal('ConflictError', `The environment ${name} is in use by projects: ${some}`);
      }
      await environments.remove(name);
      events.emit([{ type: 'environment-deleted', environment: name, preData: environment }]);
      return null;
    }),
  );
