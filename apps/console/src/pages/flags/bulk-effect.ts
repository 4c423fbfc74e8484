import type { SearchResultFeature } from '@bunting/contracts';

export type BulkFlag = Pick<SearchResultFeature, 'name' | 'project' | 'stale' | 'tags' | 'archivedAt' | 'environments'>;

/** What is done to all selected flags. */
export type BulkAction =
  | { readonly kind: 'switch'; readonly environment: string; readonly enabled: boolean }
  | { readonly kind: 'tag'; readonly tag: { readonly type: string; readonly value: string }; readonly isAdded: boolean }
  | { readonly kind: 'stale'; readonly stale: boolean }
  | { readonly kind: 'archive' };

/** What would happen to a flag. */
export type BulkEffect = 'changes' | 'unchanged' | 'impossible';

/** Whether an action would change a flag, leave it as it is, or cannot apply to it. */
export const bulkEffectOn = (flag: BulkFlag, action: BulkAction): BulkEffect => {
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
