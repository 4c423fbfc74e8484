import { implement, JsonText } from '@bunting/bus';
import { ListProjectApplications } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';

export const listProjectApplicationsEndpoint = ({ applications }: FeaturesContext) =>
  implement(
    ListProjectApplications,
    async ({ params, query }) => new JsonText(await applications.ofProject(params.projectId, query)),
  );
