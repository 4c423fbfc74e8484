import { type CleanupFeatures, type CleanupQuery, ListCleanupFeatures } from '@bunting/contracts';
import { call } from '../../api/call.ts';
import type { SelectedFlag } from '../flags/bulk-effect.ts';
import { isSelected, type FlagSelection } from '../flags/flag-selection.ts';

export type CleanupFlag = CleanupFeatures['features'][number];

const pageSize = 1_000;

/** Reads every flag that a selection means, page by page. */
export const readCleanupSelection = async (
  query: CleanupQuery,
  selection: FlagSelection,
  signal?: AbortSignal,
): Promise<CleanupFlag[]> => {
  const found: CleanupFlag[] = [];
  let after: string | undefined;
  do {
    const page = { ...query, limit: pageSize, ...(after === undefined ? {} : { after }) };
    const { features, next } = await call(ListCleanupFeatures, { query: page, ...(signal && { signal }) });
    found.push(...features.filter(({ name }) => isSelected(selection, name)));
    after = next ?? undefined;
  } while (after !== undefined && (selection.kind === 'all' || found.length < selection.names.size));
  return found;
};

/** A listed flag, for its archiving: an archived one is not listed. */
export const archivableFlagOf = ({ name, project }: CleanupFlag): SelectedFlag => ({
  name,
  project,
  effectOf: () => 'changes',
});
