import { implement, JsonText } from '@bunting/bus';
import { ListApplications } from '@bunting/contracts';
import type { ApplicationReader } from '../../persistence/application-reader.ts';
import { hiddenFrom } from '../seen-by.ts';

export const listApplicationsEndpoint = (applications: ApplicationReader) =>
  implement(
    ListApplications,
    async ({ query, caller }) => new JsonText(await applications.all(query, hiddenFrom(caller))),
  );
