import { implement } from '@bunting/bus';
import { CreateEnvironment } from '@bunting/contracts';
import { newEnvironment, environmentView } from '../../domain/environments/environment.ts';
import { authoriseAtRoot } from '../authorise-at-root.ts';
import type { FeaturesContext } from '../context.ts';

export const createEnvironmentEndpoint = ({ transaction }: FeaturesContext) =>
  implement(CreateEnvironment, (request) =>
    transaction(request, async ({ environments, events }) => {
      authoriseAtRoot(request.caller, CreateEnvironment.permission);
      const environment = newEnvironment(request.body, await environments.lockAndCount());
      await environments.add(environment);
      events.emit([{ type: 'environment-created', environment: environment.name, data: environment }]);
      return { ...environmentView(environment), projectCount: 0, enabledToggleCount: 0 };
    }),
  );
