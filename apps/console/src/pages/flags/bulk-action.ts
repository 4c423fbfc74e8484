import {
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
import { readProtectedEnvironments } from '../../changes/edit-protection.tsx';
import { propose } from '../../changes/propose.ts';
import type { SearchQuery } from './flag-filter.ts';
import { type LastAsked, lastAskedOf } from './last-asked.ts';
import { type FlagSelection, isSelected } from './selection-bar.tsx';

/** What is done to all selected flags. */
export type BulkAction =
  | { readonly kind: 'switch'; readonly environment: string; readonly enabled: boolean }
  | { readonly kind: 'tag'; readonly tag: { readonly type: string; readonly value: string }; readonly isAdded: boolean }
  | { readonly kind: 'stale'; readonly stale: boolean }
  | { readonly kind: 'archive' };

/** The effect that a bulk action would have on one flag. */
type BulkEffect = 'changes' | 'unchanged' | 'impossible';

/** A flag that is selected for a bulk action. */
export interface SelectedFlag extends Pick<SearchResultFeature, 'name' | 'project'> {
  /** where and when an application asked for it last; undefined where none ever did */
  readonly lastAsked: LastAsked | undefined;
  readonly effectOf: (action: BulkAction) => BulkEffect;
}

type ChangeableFlag = Pick<SearchResultFeature, 'stale' | 'tags' | 'archivedAt' | 'environments'>;

/** The effect of an action on a flag; `impossible` for an archived flag, and for a switch in an environment without the flag. */
function bulkEffectOn(flag: ChangeableFlag, action: BulkAction): BulkEffect {
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
}

const pageSize = 1_000;

/** The pages of all flags that a query finds, by name. @throws ApiError */
async function* pagesOf(query: SearchQuery, signal?: AbortSignal) {
  for (let offset = 0; ; offset += pageSize) {
    const page = { ...query, sortBy: 'name', sortOrder: 'asc', offset: String(offset), limit: String(pageSize) };
    const found = await call(SearchFeatures, { query: page, ...(signal === undefined ? {} : { signal }) });
    yield found;
    if (found.features.length < pageSize || offset + pageSize >= (found.total ?? 0)) return;
  }
}

/** Reads all selected flags from the server, page by page. @throws ApiError */
export async function readSelectedFlags(
  query: SearchQuery,
  selection: FlagSelection,
  signal: AbortSignal,
): Promise<SelectedFlag[]> {
  const selectedFlags: SelectedFlag[] = [];
  for await (const { features } of pagesOf(query, signal)) {
    for (const feature of features) {
      const { name, project } = feature;
      if (isSelected(selection, name))
        selectedFlags.push({
          name,
          project,
          lastAsked: lastAskedOf(feature),
          effectOf: (action) => bulkEffectOn(feature, action),
        });
    }
  }
  return selectedFlags;
}

/** Reads the names of the flags that contain the words of a forgiving query, without those that are only similar. @throws ApiError */
export async function readExactNames(query: SearchQuery): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  for await (const { features, matches } of pagesOf(query))
    for (const [nth, { name }] of features.entries()) if (matches?.[nth]?.isExact === true) names.add(name);
  return names;
}

export interface BulkResult {
  readonly name: string;
  readonly project: string;
  readonly outcome: 'done' | 'proposed' | 'refused';
  /** the id of the change request, if the outcome is `proposed` */
  readonly changeRequest?: number;
  /** the reason, if the outcome is `refused` */
  readonly error?: unknown;
}

function groupByProject(flags: readonly Pick<SelectedFlag, 'name' | 'project'>[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const { project, name } of flags) groups.set(project, [...(groups.get(project) ?? []), name]);
  return groups;
}

/** The maximum number of changes in one call. The changes of later calls join the same draft of a change request. */
const proposedChangesPerCall = 200;

/** Whether an action is proposed in a change request where an environment that it affects is protected. */
export function canBeProposed({ kind }: BulkAction): boolean {
  return kind === 'switch' || kind === 'archive';
}

/**
 * The environment in which an action becomes a change request; undefined where it needs none.
 */
export function proposalEnvironmentOf(
  action: BulkAction,
  protectedEnvironments: readonly string[],
): string | undefined {
  if (action.kind === 'archive') return protectedEnvironments[0];
  return action.kind === 'switch' ? protectedEnvironments.find((name) => name === action.environment) : undefined;
}

/** The maximum number of flags in one call. A call is atomic: the flags of a refused call are retried one by one. */
const flagsPerCall = 100;

/** Makes an action take effect on flags of a project immediately, by the operation of its kind. @throws ApiError */
async function callOperationOf(projectId: string, features: string[], action: BulkAction): Promise<unknown> {
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
}

/** The change that is proposed for a flag whose environment is protected; undefined for an action that needs no change request. */
function proposedChangeOf(action: BulkAction): { action: string; payload?: { enabled: boolean } } | undefined {
  if (action.kind === 'switch') return { action: 'updateEnabled', payload: { enabled: action.enabled } };
  return action.kind === 'archive' ? { action: 'archiveFeature' } : undefined;
}

interface BulkOptions {
  readonly client: QueryClient;
  readonly onProgress: (done: number) => void;
}

/** Runs an action on flags, project by project, or proposes it where an environment is protected. @returns the result for each flag */
export async function runBulkAction(
  flags: readonly Pick<SelectedFlag, 'name' | 'project'>[],
  action: BulkAction,
  { client, onProgress }: BulkOptions,
): Promise<BulkResult[]> {
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
    let protectedEnvironments: readonly string[];
    try {
      protectedEnvironments = canBeProposed(action) ? await readProtectedEnvironments(client, project) : [];
    } catch (error) {
      add(project, names, { outcome: 'refused', error });
      continue;
    }
    const environment = proposalEnvironmentOf(action, protectedEnvironments);
    const proposal = proposedChangeOf(action);
    if (environment !== undefined && proposal !== undefined) {
      let joined: number | undefined;
      for (let start = 0; start < names.length; start += proposedChangesPerCall) {
        const batch = names.slice(start, start + proposedChangesPerCall);
        try {
          const body = batch.map((feature) => ({ feature, ...proposal }));
          const { changeRequest } = await propose({ project, environment }, body, joined);
          joined = changeRequest.id;
          add(project, batch, { outcome: 'proposed', changeRequest: changeRequest.id });
        } catch (error) {
          add(project, batch, { outcome: 'refused', error });
        }
      }
      continue;
    }
    for (let start = 0; start < names.length; start += flagsPerCall) {
      const batch = names.slice(start, start + flagsPerCall);
      try {
        await callOperationOf(project, batch, action);
        add(project, batch, { outcome: 'done' });
      } catch (error) {
        if (batch.length === 1) {
          add(project, batch, { outcome: 'refused', error });
          continue;
        }
        for (const name of batch) {
          try {
            await callOperationOf(project, [name], action);
            add(project, [name], { outcome: 'done' });
          } catch (reason) {
            add(project, [name], { outcome: 'refused', error: reason });
          }
        }
      }
    }
  }
  return results;
}
