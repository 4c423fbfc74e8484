import { SearchFeatures } from '@bunting/contracts';
import { call } from '../../api/call.ts';
import type { SearchQuery } from './flag-filter.ts';
import { isSelected, type FlagSelection } from './flag-selection.ts';
import type { BulkFlag } from './bulk-effect.ts';

const pageSize = 1_000;

/** Reads every flag that a selection of everything means, page by page. */
export const readSelectedFlags = async (
  query: SearchQuery,
  selection: FlagSelection,
  signal: AbortSignal,
): Promise<BulkFlag[]> => {
  const found: BulkFlag[] = [];
  for (let offset = 0; ; offset += pageSize) {
    const page = { ...query, sortBy: 'name', offset: String(offset), limit: String(pageSize) };
    const { features, total = 0 } = await call(SearchFeatures, { query: page, signal });
    found.push(...features.filter(({ name }) => isSelected(selection, name)));
    if (features.length < pageSize || offset + pageSize >= total) return found;
  }
};
