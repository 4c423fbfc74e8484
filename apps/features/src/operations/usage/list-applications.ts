import { implement, JsonText } from '@bunting/bus';
import { ListApplications } from '@bunting/contracts';
import type { UsageReader } from '../../persistence/usage-reader.ts';

export const listApplicationsEndpoint = (usage: UsageReader) =>
  implement(ListApplications, async () => new JsonText(await usage.applications()));
