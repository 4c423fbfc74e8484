import { implement } from '@bunting/bus';
import { DeleteEnvironment } from '@bunting/contracts';
import { deleteEnvironment } from '../../domain/environments/environment.ts';
import { withoutEnvironment } from '../../domain/project-environments/project-environment.ts';
import { environmentNotFound } from '../../domain/refusals.ts';
import type { FeaturesContext } from '../context.ts';

export const deleteEnvironmentEndpoint = ({ transaction }: FeaturesContext) =>
  implement(DeleteEnvironment, (request) =>
    transaction(request, async ({ environments, projects, features }) => {
      const { params } = request;
      const [environment] = await environments.findForUpdate([params.name]);
      if (environment === undefined) throw environmentNotFound(params.name);
      const { name } = environment;
      const projectIds = await environments.lockProjects(name);
      const concerned = await features.findAllOfInstanceForUpdate(await environments.featureNames([name]));
      const events = deleteEnvironment(environment, projectIds, concerned);
      for (const id of projectIds) await projects.disconnect(id, name, []);
      await features.save(
        concerned.map((feature) => withoutEnvironment(feature, name)),
        [],
      );
      await environments.remove(name, events);
      return null;
    }),
  );
