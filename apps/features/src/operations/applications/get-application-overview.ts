import { implement, JsonText } from '@bunting/bus';
import { GetApplicationOverview } from '@bunting/contracts';
import type { ApplicationReader } from '../../persistence/application-reader.ts';
import { hiddenFrom } from '../seen-by.ts';

export const getApplicationOverviewEndpoint = (applications: ApplicationReader) =>
  implement(
    GetApplicationOverview,
    async ({ params, caller }) => new JsonText(await applications.overview(params.appName, hiddenFrom(caller))),
  );
