import {
  AddChanges,
  ArchiveFeatures,
  DisableFeatures,
  EnableFeatures,
  SetStale,
  TagFeatures,
} from '@bunting/contracts';
import type { QueryClient } from '@tanstack/react-query';
import { call } from '../../api/call.ts';
import type { BulkAction } from '../../changes/bulk-action.ts';
import { readProtectedEnvironments } from '../../changes/protected-environments.ts';
import type { SelectedFlag } from './bulk-effect.ts';

export interface BulkResult {
  readonly name: string;
  readonly project: string;
  readonly outcome: 'done' | 'proposed' | 'refused';
  /** the id of the change request, if the outcome is `proposed` */
  readonly changeRequest?: number;
  /** the reason, if the outcome is `refused` */
  readonly error?: unknown;
}

const groupByProject = (flags: readonly Pick<SelectedFlag, 'name' | 'project'>[]): Map<string, string[]> => {
  const groups = new Map<string, string[]>();
  for (const { project, name } of flags) groups.set(project, [...(groups.get(project) ?? []), name]);
  return groups;
};

/** The maximum number of changes in one call. The changes of later calls join the same draft of a change request. */
const proposedChangesPerCall = 200;

/** Whether an action is proposed in a change request where an environment that it affects is protected. */
export const canBeProposed = ({ kind }: BulkAction): boolean => kind === 'switch' || kind === 'archive';

/**
 * The environment in which an action becomes a change request; undefined where it needs none.
 */
export const proposalEnvironmentOf = (
  action: BulkAction,
  protectedEnvironments: readonly string[],
): string | undefined => {
  if (action.kind === 'archive') return protectedEnvironments[0];
  return action.kind === 'switch' ? protectedEnvironments.find((name) => name === action.environment) : undefined;
};

/** The maximum number of flags in one call. A call is atomic: the flags of a refused call are retried one by one. */
const flagsPerCall = 100;

/** Makes an action take effect on flags of a project immediately, by the operation of its kind. @throws ApiError */
const callOperationOf = async (projectId: string, features: string[], action: BulkAction): Promise<unknown> => {
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

/** The change that is proposed for a flag whose environment is protected; undefined for an action that needs no change request. */
const proposedChangeOf = (action: BulkAction): { action: string; payload?: { enabled: boolean } } | undefined => {
  if (action.kind === 'switch') return { action: 'updateEnabled', payload: { enabled: action.enabled } };
  return action.kind === 'archive' ? { action: 'archiveFeature' } : undefined;
};

interface BulkOptions {
  readonly client: QueryClient;
  readonly onProgress: (done: number) => void;
}

/** Runs an action on flags, project by project, or proposes it where an environment is protected. @returns the result for each flag */
export const runBulkAction = async (
  flags: readonly Pick<SelectedFlag, 'name' | 'project'>[],
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
      for (let start = 0; start < names.length; start += proposedChangesPerCall) {
        const batch = names.slice(start, start + proposedChangesPerCall);
        try {
          const body = batch.map((feature) => ({ feature, ...proposal }));
          const { id } = await call(AddChanges, { params: { projectId: project, environment }, body });
          add(project, batch, { outcome: 'proposed', changeRequest: id });
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
};
