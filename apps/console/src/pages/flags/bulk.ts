import {
  AddChanges,
  ArchiveFeatures,
  DisableFeaturesInBulk,
  EnableFeaturesInBulk,
  SearchFeatures,
  type SearchResultFeature,
  SetStale,
  TagFeaturesInBulk,
} from '@bunting/contracts';
import { call } from '../../api/call.ts';
import type { SearchQuery } from './filter.ts';
import { isSelected, type Selection } from './selection.ts';

/** What is done to all selected flags. */
export type BulkAction =
  | { readonly kind: 'switch'; readonly environment: string; readonly enabled: boolean }
  | { readonly kind: 'tag'; readonly tag: { readonly type: string; readonly value: string }; readonly isAdded: boolean }
  | { readonly kind: 'stale'; readonly stale: boolean }
  | { readonly kind: 'archive' };

export type BulkFlag = Pick<SearchResultFeature, 'name' | 'project' | 'stale' | 'tags' | 'archivedAt' | 'environments'>;

/** What would happen to a flag. */
export type BulkEffect = 'changes' | 'unchanged' | 'impossible';

/** Whether an action would change a flag, leave it as it is, or cannot apply to it. */
export const effectOn = (flag: BulkFlag, action: BulkAction): BulkEffect => {
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

const pageSize = 1_000;

/** Reads every flag that a selection of everything means, page by page. */
export const readSelected = async (
  query: SearchQuery,
  selection: Selection,
  signal: AbortSignal,
  onProgress: (read: number) => void,
): Promise<BulkFlag[]> => {
  const found: BulkFlag[] = [];
  for (let offset = 0; ; offset += pageSize) {
    const page = { ...query, sortBy: 'name', offset: String(offset), limit: String(pageSize) };
    const { features, total = 0 } = await call(SearchFeatures, { query: page, signal });
    found.push(...features.filter(({ name }) => isSelected(selection, name)));
    onProgress(offset + features.length);
    if (features.length < pageSize || offset + pageSize >= total) return found;
  }
};

export interface BulkResult {
  readonly name: string;
  readonly project: string;
  readonly outcome: 'done' | 'proposed' | 'refused';
  /** why it was refused */
  readonly error?: unknown;
}

const groupByProject = (flags: readonly BulkFlag[]): Map<string, string[]> => {
  const groups = new Map<string, string[]>();
  for (const { project, name } of flags) groups.set(project, [...(groups.get(project) ?? []), name]);
  return groups;
};

/** Flags of one call. All or none of them change, so those of a refused call are sent again one by one. */
const chunkSize = 100;

const apply = async (projectId: string, features: string[], action: BulkAction): Promise<unknown> => {
  const params = { projectId };
  switch (action.kind) {
    case 'switch': {
      const operation = action.enabled ? EnableFeaturesInBulk : DisableFeaturesInBulk;
      return call(operation, { params: { ...params, environment: action.environment }, body: { features } });
    }
    case 'stale':
      return call(SetStale, { params, body: { features, stale: action.stale } });
    case 'tag': {
      const [addedTags, removedTags] = action.isAdded ? [[action.tag], []] : [[], [action.tag]];
      return call(TagFeaturesInBulk, { params, body: { features, tags: { addedTags, removedTags } } });
    }
    case 'archive':
      return call(ArchiveFeatures, { params, body: { features } });
  }
};

const propose = (projectId: string, environment: string, features: readonly string[], enabled: boolean) =>
  call(AddChanges, {
    params: { projectId, environment },
    body: features.map((feature) => ({ feature, action: 'updateEnabled', payload: { enabled } })),
  });

interface BulkOptions {
  /** whether changes of an environment of a project need a change request */
  readonly isProtected: (project: string, environment: string) => boolean;
  readonly onProgress: (done: number) => void;
}

/** Does an action to flags, project by project, and says for each flag what became of it. */
export const runBulk = async (
  flags: readonly BulkFlag[],
  action: BulkAction,
  { isProtected, onProgress }: BulkOptions,
): Promise<BulkResult[]> => {
  const results: BulkResult[] = [];
  const add = (project: string, names: readonly string[], outcome: BulkResult['outcome'], error?: unknown): void => {
    results.push(...names.map((name) => ({ name, project, outcome, ...(error === undefined ? {} : { error }) })));
    onProgress(results.length);
  };
  for (const [project, names] of groupByProject(flags)) {
    if (action.kind === 'switch' && isProtected(project, action.environment)) {
      try {
        await propose(project, action.environment, names, action.enabled);
        add(project, names, 'proposed');
      } catch (error) {
        add(project, names, 'refused', error);
      }
      continue;
    }
    for (let at = 0; at < names.length; at += chunkSize) {
      const chunk = names.slice(at, at + chunkSize);
      try {
        await apply(project, chunk, action);
        add(project, chunk, 'done');
      } catch (error) {
        if (chunk.length === 1) {
          add(project, chunk, 'refused', error);
          continue;
        }
        for (const name of chunk) {
          try {
            await apply(project, [name], action);
            add(project, [name], 'done');
          } catch (reason) {
            add(project, [name], 'refused', reason);
          }
        }
      }
    }
  }
  return results;
};
