import { implement, JsonText } from '@bunting/bus';
import { ListApplicationInstances } from '@bunting/contracts';
import { hiddenProjectsOf } from '../visibility.ts';
import type { FeaturesContext } from '../context.ts';

export const listApplicationInstancesEndpoint = ({ applications }: FeaturesContext) =>
  implement(
    ListApplicationInstances,
    async ({ params, caller }) =>
      new JsonText(await applications.instances(params.appName, params.environment, hiddenProjectsOf(caller))),
  );
