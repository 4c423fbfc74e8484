import { implement, JsonText } from '@bunting/bus';
import { CountLifecycles } from '@bunting/contracts';
import { hiddenFrom } from '../seen-by.ts';
import type { FeaturesContext } from '../context.ts';

export const countLifecyclesEndpoint = ({ parts }: FeaturesContext) =>
  implement(CountLifecycles, async ({ caller }) => new JsonText(await parts.lifecycleCounts(hiddenFrom(caller))));
