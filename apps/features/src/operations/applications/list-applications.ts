import { implement, JsonText } from '@bunting/bus';
import { ListApplications } from '@bunting/contracts';
import { hiddenProjectsOf } from '../visibility.ts';
import type { FeaturesContext } from '../context.ts';

export const listApplicationsEndpoint = ({ applications }: FeaturesContext) =>
  implement(
    ListApplications,
    async ({ query, caller }) => new JsonText(await applications.all(query, hiddenProjectsOf(caller))),
  );
