import { implement, JsonText } from '@bunting/bus';
import { ListOutdatedSdks } from '@bunting/contracts';
import type { ApplicationReader } from '../../persistence/application-reader.ts';

export const listOutdatedSdksEndpoint = (applications: ApplicationReader) =>
  implement(ListOutdatedSdks, async ({ params }) => new JsonText(await applications.outdatedSdksOf(params.projectId)));
