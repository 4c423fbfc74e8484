import type { SearchResultFeature } from '@bunting/contracts';
import type { BulkAction } from '../../changes/bulk-action.ts';

/** The effect that a bulk action would have on one flag. */
type BulkEffect = 'changes' | 'unchanged' | 'impossible';

/** A flag that is selected for a bulk action. */
export interface SelectedFlag extends Pick<SearchResultFeature, 'name' | 'project'> {
  readonly effectOf: (action: BulkAction) => BulkEffect;
}

type ChangeableFlag = Pick<SearchResultFeature, 'stale' | 'tags' | 'archivedAt' | 'environments'>;

/** The effect of an action on a flag; `impossible` for an archived flag, and for a switch in an environment without the flag. */
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
      const hasTag = (flag.tags ?? []).some((tag) => tag.type === type && tag.value === value);
      return hasTag === action.isAdded ? 'unchanged' : 'changes';
    }
    case 'archive':
      return 'changes';
  }
};
