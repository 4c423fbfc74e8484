import { implement, JsonText } from '@bunting/bus';
import { GetLifecycle } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';

export const getLifecycleEndpoint = ({ featureParts }: FeaturesContext) =>
  implement(GetLifecycle, async ({ params }) => new JsonText(await featureParts.lifecycle(params)));
