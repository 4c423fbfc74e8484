import { implement, JsonText } from '@bunting/bus';
import { ListSegments } from '@bunting/contracts';
import { hiddenProjectsOf } from '../visibility.ts';
import type { FeaturesContext } from '../context.ts';

export const listSegmentsEndpoint = ({ segments }: FeaturesContext) =>
  implement(ListSegments, async ({ caller }) => new JsonText(await segments.all(hiddenProjectsOf(caller))));
