import { implement, JsonText } from '@bunting/bus';
import { ListUnknownFlags } from '@bunting/contracts';
import { hiddenProjectsOf } from '../visibility.ts';
import type { FeaturesContext } from '../context.ts';

export const listUnknownFlagsEndpoint = ({ listUnknownFlags }: FeaturesContext) =>
  implement(
    ListUnknownFlags,
    async ({ caller, query }) => new JsonText(await listUnknownFlags(query, hiddenProjectsOf(caller))),
  );
