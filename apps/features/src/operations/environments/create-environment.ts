import { implement } from '@bunting/bus';
import { CreateEnvironment } from '@bunting/contracts';
import { newEnvironment, environmentView } from '../../domain/environments/environment.ts';
import { endAccessOfEarlierEnvironment } from './end-access-of-earlier-environment.ts';
import type { FeaturesContext } from '../context.ts';

export const createEnvironmentEndpoint = ({ transaction, bus }: FeaturesContext) =>
  implement(CreateEnvironment, (request) =>
    transaction(request, async ({ environments }) => {
      const { environment, events } = newEnvironment(request.body, await environments.lockAndCount());
      await environments.add(environment, events);
      await endAccessOfEarlierEnvironment(bus, environment.name, request);
      return { ...environmentView(environment), projectCount: 0, enabledToggleCount: 0 };
    }),
  );
