import { implement, JsonText } from '@bunting/bus';
import { ListProjectApplications } from '@bunting/contracts';
import type { ApplicationReader } from '../../persistence/application-reader.ts';

export const listProjectApplicationsEndpoint = (applications: ApplicationReader) =>
  implement(
    ListProjectApplications,
    async ({ params, query }) => new JsonText(await applications.ofProject(params.projectId, query)),
  );
