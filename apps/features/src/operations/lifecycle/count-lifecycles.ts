import { implement, JsonText } from '@bunting/bus';
import { CountLifecycles } from '@bunting/contracts';
import { hiddenProjectsOf } from '../visibility.ts';
import type { FeaturesContext } from '../context.ts';

export const countLifecyclesEndpoint = ({ countLifecycles }: FeaturesContext) =>
  implement(CountLifecycles, async ({ caller }) => new JsonText(await countLifecycles(hiddenProjectsOf(caller))));
