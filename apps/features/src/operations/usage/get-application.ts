import { implement, JsonText } from '@bunting/bus';
import { GetApplication } from '@bunting/contracts';
import type { UsageReader } from '../../persistence/usage-reader.ts';

export const getApplicationEndpoint = (usage: UsageReader) =>
  implement(GetApplication, async ({ params }) => new JsonText(await usage.application(params.appName)));
