import { implement, JsonText } from '@bunting/bus';
import { ListSegments } from '@bunting/contracts';
import { hiddenFrom } from '../seen-by.ts';
import type { FeaturesContext } from '../context.ts';

export const listSegmentsEndpoint = ({ segments }: FeaturesContext) =>
  implement(ListSegments, async ({ caller }) => new JsonText(await segments.all(hiddenFrom(caller))));
