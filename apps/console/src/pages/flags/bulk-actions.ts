import {
  AddChanges,
  ArchiveFeatures,
  DisableFeatures,
  EnableFeatures,
  SearchFeatures,
  type SearchResultFeature,
  SetStale,
  TagFeatures,
} from '@bunting/contracts';
import type { QueryClient } from '@tanstack/react-query';
import { call } from '../../api/call.ts';
import { readProtectedEnvironments } from '../../changes/protected-environments.ts';
import type { SearchQuery } from './flag-filter.ts';
import { isSelected, type Selection } from './flag-selection.ts';

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

const pageSize = 1_000;

/** Reads every flag that a selection of everything means, page by page. */
export const readSelectedFlags = async (
  query: SearchQuery,
  selection: Selection,
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

export interface BulkResult {
  readonly name: string;
  readonly project: string;
  readonly outcome: 'done' | 'proposed' | 'refused';
  /** of what is proposed */
  readonly changeRequest?: number;
  /** why it was refused */
  readonly error?: unknown;
}

const groupByProject = (flags: readonly BulkFlag[]): Map<string, string[]> => {
  const groups = new Map<string, string[]>();
  for (const { project, name } of flags) groups.set(project, [...(groups.get(project) ?? []), name]);
  return groups;
};

/** Changes of one call; further ones join the same draft. */
const proposalSize = 200;

/** Whether an action becomes a change request where an environment of it is protected. */
export const canBeProposed = ({ kind }: BulkAction): boolean => kind === 'switch' || kind === 'archive';

/**
 * The environment in which an action becomes a change request; undefined where it needs none.
 * @param guarded the protected environments of the project
 */
export const environmentOfProposal = (action: BulkAction, guarded: readonly string[]): string | undefined => {
  if (action.kind === 'archive') return guarded[0];
  return action.kind === 'switch' ? guarded.find((name) => name === action.environment) : undefined;
};

/** Flags of one call. A call is atomic, so those of a refused call are retried one by one. */
const chunkSize = 100;

const apply = async (projectId: string, features: string[], action: BulkAction): Promise<unknown> => {
  const params = { projectId };
  switch (action.kind) {
    case 'switch': {
      const operation = action.enabled ? EnableFeatures : DisableFeatures;
      return call(operation, { params: { ...params, environment: action.environment }, body: { features } });
    }
    case 'stale':
      return call(SetStale, { params, body: { features, stale: action.stale } });
    case 'tag': {
      const [addedTags, removedTags] = action.isAdded ? [[action.tag], []] : [[], [action.tag]];
      return call(TagFeatures, { params, body: { features, tags: { addedTags, removedTags } } });
    }
    case 'archive':
      return call(ArchiveFeatures, { params, body: { features } });
  }
};

/** What is proposed for a flag where its environment is protected; undefined for what needs no change request. */
const proposedChangeOf = (action: BulkAction): { action: string; payload?: { enabled: boolean } } | undefined => {
  if (action.kind === 'switch') return { action: 'updateEnabled', payload: { enabled: action.enabled } };
  return action.kind === 'archive' ? { action: 'archiveFeature' } : undefined;
};

interface BulkOptions {
  readonly client: QueryClient;
  readonly onProgress: (done: number) => void;
}

/** Applies an action to flags, project by project. @returns the result for each flag */
export const runBulkAction = async (
  flags: readonly BulkFlag[],
  action: BulkAction,
  { client, onProgress }: BulkOptions,
): Promise<BulkResult[]> => {
  const results: BulkResult[] = [];
  const add = (
    project: string,
    names: readonly string[],
    result: Pick<BulkResult, 'outcome' | 'error' | 'changeRequest'>,
  ): void => {
    results.push(...names.map((name) => ({ name, project, ...result })));
    onProgress(results.length);
  };
  for (const [project, names] of groupByProject(flags)) {
    let guarded: readonly string[];
    try {
      guarded = canBeProposed(action) ? await readProtectedEnvironments(client, project) : [];
    } catch (error) {
      add(project, names, { outcome: 'refused', error });
      continue;
    }
    const environment = environmentOfProposal(action, guarded);
    const proposal = proposedChangeOf(action);
    if (environment !== undefined && proposal !== undefined) {
      for (let at = 0; at < names.length; at += proposalSize) {
        const chunk = names.slice(at, at + proposalSize);
        try {
          const body = chunk.map((feature) => ({ feature, ...proposal }));
          const { id } = await call(AddChanges, { params: { projectId: project, environment }, body });
          add(project, chunk, { outcome: 'proposed', changeRequest: id });
        } catch (error) {
          add(project, chunk, { outcome: 'refused', error });
        }
      }
      continue;
    }
    for (let at = 0; at < names.length; at += chunkSize) {
      const chunk = names.slice(at, at + chunkSize);
      try {
        await apply(project, chunk, action);
        add(project, chunk, { outcome: 'done' });
      } catch (error) {
        if (chunk.length === 1) {
          add(project, chunk, { outcome: 'refused', error });
          continue;
        }
        for (const name of chunk) {
          try {
            await apply(project, [name], action);
            add(project, [name], { outcome: 'done' });
          } catch (reason) {
            add(project, [name], { outcome: 'refused', error: reason });
          }
        }
      }
    }
  }
  return results;
};
