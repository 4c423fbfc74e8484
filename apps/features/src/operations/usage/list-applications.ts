import { implement, JsonText } from '@bunting/bus';
import { ListApplications } from '@bunting/contracts';
import type { UsageReader } from '../../persistence/usage-reader.ts';
import { hiddenFrom } from '../seen-by.ts';

export const listApplicationsEndpoint = (usage: UsageReader) =>
  implement(ListApplications, async ({ caller }) => new JsonText(await usage.applications(hiddenFrom(caller))));
