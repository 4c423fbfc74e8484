import { implement, JsonText } from '@bunting/bus';
import { GetApplication } from '@bunting/contracts';
import type { UsageReader } from '../../persistence/usage-reader.ts';
import { hiddenFrom } from '../seen-by.ts';

export const getApplicationEndpoint = (usage: UsageReader) =>
  implement(
    GetApplication,
    async ({ params, caller }) => new JsonText(await usage.application(params.appName, hiddenFrom(caller))),
  );
