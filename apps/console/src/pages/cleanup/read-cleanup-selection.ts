import { type CleanupFeatures, type CleanupQuery, ListCleanupFeatures } from '@bunting/contracts';
import { call } from '../../api/call.ts';
import type { SelectedFlag } from '../flags/bulk-effect.ts';
import { isSelected, type FlagSelection } from '../flags/flag-selection.ts';

export type CleanupFlag = CleanupFeatures['features'][number];

const pageSize = 1_000;

/** Reads all selected flags from the server, page by page. @throws ApiError */
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

/** A flag of the list as the bulk action that archives needs it. The list has active flags only, so archiving changes each. */
export const archivableFlagOf = ({ name, project }: CleanupFlag): SelectedFlag => ({
  name,
  project,
  effectOf: () => 'changes',
});
