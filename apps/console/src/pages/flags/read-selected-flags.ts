import { SearchFeatures } from '@bunting/contracts';
import { call } from '../../api/call.ts';
import type { SearchQuery } from './flag-filter.ts';
import { isSelected, type FlagSelection } from './flag-selection.ts';
import { bulkEffectOn, type SelectedFlag } from './bulk-effect.ts';

const pageSize = 1_000;

/** Reads all selected flags from the server, page by page. @throws ApiError */
export const readSelectedFlags = async (
  query: SearchQuery,
  selection: FlagSelection,
  signal: AbortSignal,
): Promise<SelectedFlag[]> => {
  const selectedFlags: SelectedFlag[] = [];
  for (let offset = 0; ; offset += pageSize) {
    const page = { ...query, sortBy: 'name', offset: String(offset), limit: String(pageSize) };
    const { features, total = 0 } = await call(SearchFeatures, { query: page, signal });
    for (const feature of features) {
      const { name, project } = feature;
      if (isSelected(selection, name))
        selectedFlags.push({ name, project, effectOf: (action) => bulkEffectOn(feature, action) });
    }
    if (features.length < pageSize || offset + pageSize >= total) return selectedFlags;
  }
};
