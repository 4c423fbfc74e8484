import { implement, JsonText } from '@bunting/bus';
import { GetApplication } from '@bunting/contracts';
import { hiddenProjectsOf } from '../visibility.ts';
import type { FeaturesContext } from '../context.ts';

export const getApplicationEndpoint = ({ applications }: FeaturesContext) =>
  implement(
    GetApplication,
    async ({ params, caller }) => new JsonText(await applications.one(params.appName, hiddenProjectsOf(caller))),
  );
