import { implement, JsonText } from '@bunting/bus';
import { ListApplicationInstances } from '@bunting/contracts';
import type { ApplicationReader } from '../../persistence/application-reader.ts';
import { hiddenFrom } from '../seen-by.ts';

export const listApplicationInstancesEndpoint = (applications: ApplicationReader) =>
  implement(
    ListApplicationInstances,
    async ({ params, caller }) =>
      new JsonText(await applications.instances(params.appName, params.environment, hiddenFrom(caller))),
  );
