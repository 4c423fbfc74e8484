import type { SearchResultFeature } from '@bunting/contracts';
import type { BulkAction } from '../../changes/bulk-action.ts';

/** What would happen to a flag. */
export type BulkEffect = 'changes' | 'unchanged' | 'impossible';

/** A flag that a bulk action is for. */
export interface SelectedFlag extends Pick<SearchResultFeature, 'name' | 'project'> {
  readonly effectOf: (action: BulkAction) => BulkEffect;
}

type ChangeableFlag = Pick<SearchResultFeature, 'stale' | 'tags' | 'archivedAt' | 'environments'>;

/** Whether an action would change a flag, leave it as it is, or cannot apply to it. */
export const bulkEffectOn = (flag: ChangeableFlag, action: BulkAction): BulkEffect => {
  if (flag.archivedAt != null) return 'impossible';
  switch (action.kind) {
    case 'switch': {
      const state = flag.environments.find(({ name }) => name === action.environment);
      if (state === undefined) return 'impossible';
      return state.enabled === action.enabled ? 'unchanged' : 'changes';
    }
    case 'stale':
      return flag.stale === action.stale ? 'unchanged' : 'changes';
    case 'tag': {
      const { type, value } = action.tag;
      const has = (flag.tags ?? []).some((tag) => tag.type === type && tag.value === value);
      return has === action.isAdded ? 'unchanged' : 'changes';
    }
    case 'archive':
      return 'changes';
  }
};
