import { implement, JsonText } from '@bunting/bus';
import { SearchFlagCreators } from '@bunting/contracts';
import { hiddenProjectsOf } from '../visibility.ts';
import type { FeaturesContext } from '../context.ts';

/** Searches the creators of features in all projects that the caller may see. */
export const searchFlagCreatorsEndpoint = ({ flagCreators }: FeaturesContext) =>
  implement(SearchFlagCreators, async ({ caller, query }) => {
    const { q = '', offset = 0, limit = 50 } = query;
    return new JsonText(await flagCreators.search(hiddenProjectsOf(caller), q.trim().toLowerCase(), { offset, limit }));
  });
