import { implement, JsonText } from '@bunting/bus';
import { GetApplicationOverview } from '@bunting/contracts';
import { hiddenProjectsOf } from '../visibility.ts';
import type { FeaturesContext } from '../context.ts';

export const getApplicationOverviewEndpoint = ({ applications }: FeaturesContext) =>
  implement(
    GetApplicationOverview,
    async ({ params, caller }) => new JsonText(await applications.overview(params.appName, hiddenProjectsOf(caller))),
  );
