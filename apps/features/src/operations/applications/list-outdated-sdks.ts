import { implement, JsonText } from '@bunting/bus';
import { ListOutdatedSdks } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';

export const listOutdatedSdksEndpoint = ({ applications }: FeaturesContext) =>
  implement(ListOutdatedSdks, async ({ params }) => new JsonText(await applications.outdatedSdksOf(params.projectId)));
