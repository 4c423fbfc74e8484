import { implement } from '@bunting/bus';
import { CreateEnvironment } from '@bunting/contracts';
import { newEnvironment, environmentView } from '../../domain/environments/environment.ts';
import { limitExceeded } from '../../domain/refusals.ts';
import { limits } from '../../domain/project-context.ts';
import { authoriseAtRoot } from '../authorise-at-root.ts';
import type { FeaturesContext } from '../context.ts';

export const createEnvironmentEndpoint = ({ transaction }: FeaturesContext) =>
  implement(CreateEnvironment, (request) =>
    transaction(request, async ({ environments, events }) => {
      authoriseAtRoot(request.caller, CreateEnvironment.permission);
      const { count, latest } = await environments.lockAndCount();
      const environment = newEnvironment(request.body, latest);
      if (count >= limits.environments) throw limitExceeded('environment', limits.environments);
      await environments.add(environment);
      events.emit([{ type: 'environment-created', environment: environment.name, data: environment }]);
      return { ...environmentView(environment), projectCount: 0, enabledToggleCount: 0 };
    }),
  );
