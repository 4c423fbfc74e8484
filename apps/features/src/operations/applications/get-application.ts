import { implement, JsonText } from '@bunting/bus';
import { GetApplication } from '@bunting/contracts';
import type { ApplicationReader } from '../../persistence/application-reader.ts';
import { hiddenFrom } from '../seen-by.ts';

export const getApplicationEndpoint = (applications: ApplicationReader) =>
  implement(
    GetApplication,
    async ({ params, caller }) => new JsonText(await applications.one(params.appName, hiddenFrom(caller))),
  );
