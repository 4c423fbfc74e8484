import { implement, JsonText } from '@bunting/bus';
import { ListUnknownFlags } from '@bunting/contracts';
import { hiddenProjectsOf } from '../visibility.ts';
import type { FeaturesContext } from '../context.ts';

export const listUnknownFlagsEndpoint = ({ cleanup }: FeaturesContext) =>
  implement(
    ListUnknownFlags,
    async ({ caller, query }) => new JsonText(await cleanup.unknownFlags(query, hiddenProjectsOf(caller))),
  );
