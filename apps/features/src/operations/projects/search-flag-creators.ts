import { implement, JsonText } from '@bunting/bus';
import { SearchFlagCreators } from '@bunting/contracts';
import { hiddenProjectsOf } from '../visibility.ts';
import type { FeaturesContext } from '../context.ts';

export const searchFlagCreatorsEndpoint = ({ dashboard }: FeaturesContext) =>
  implement(SearchFlagCreators, async ({ caller, query }) => {
    const { q = '', offset = 0, limit = 50 } = query;
    return new JsonText(await dashboard.creators(hiddenProjectsOf(caller), q.trim().toLowerCase(), { offset, limit }));
  });
