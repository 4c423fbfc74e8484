import { implement } from '@bunting/bus';
import { CreateEnvironment } from '@bunting/contracts';
import { newEnvironment, shownEnvironment } from '../../domain/environment.ts';
import { tooMany } from '../../domain/refusals.ts';
import { limits } from '../../domain/surroundings.ts';
import { authoriseEverywhere } from '../authorise-everywhere.ts';
import type { FeaturesContext } from '../context.ts';

export const createEnvironmentEndpoint = ({ transaction }: FeaturesContext) =>
  implement(CreateEnvironment, (request) =>
    transaction(request, async ({ environments, events }) => {
      authoriseEverywhere(request.caller, CreateEnvironment.permission);
      const { count, latest } = await environments.lockAndCount();
      const environment = newEnvironment(request.body, latest);
      if (count >= limits.environments) throw tooMany('environment', limits.environments);
      await environments.add(environment);
      events.record([{ type: 'environment-created', environment: environment.name, data: environment }]);
      return { ...shownEnvironment(environment), projectCount: 0, enabledToggleCount: 0 };
    }),
  );
