import {
  AddChanges,
  AddFavoriteFeature,
  DisableFeature,
  EnableFeature,
  RemoveFavoriteFeature,
  type SearchResultFeature,
} from '@bunting/contracts';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { ApiError } from '../../api/api-error.ts';
import { useOperationMutation } from '../../api/queries-and-mutations.ts';
import { call } from '../../api/call.ts';
import { notify, notifyError } from '../../shell/toasts.tsx';
import { readProtectedEnvironments } from '../../changes/protected-environments.ts';
import type { RowActions } from './flag-table.tsx';

interface FlagSwitch {
  readonly flag: SearchResultFeature;
  readonly environment: string;
  readonly enabled: boolean;
}

/**
 * The actions of the rows of the list, as one object for all rows and renders, so that scrolling renders new rows only. A switch takes
 * effect immediately, or as a change request where the environment is protected.
 */
export const useFlagRowActions = (select: RowActions['select']) => {
  const addFavorite = useOperationMutation(AddFavoriteFeature, 'handled');
  const removeFavorite = useOperationMutation(RemoveFavoriteFeature, 'handled');
  const switchFlag = useMutation<void, ApiError, FlagSwitch>({
    mutationFn: async ({ flag, environment, enabled }, { client }) => {
      const path = { projectId: flag.project, environment };
      if ((await readProtectedEnvironments(client, flag.project)).includes(environment)) {
        const body = [{ feature: flag.name, action: 'updateEnabled', payload: { enabled } }];
        const { id } = await call(AddChanges, { params: path, body });
        notify(`Proposed in change request ${id}: turn ${flag.name} ${enabled ? 'on' : 'off'} in ${environment}.`);
      } else {
        const operation = enabled ? EnableFeature : DisableFeature;
        await call(operation, { params: { ...path, featureName: flag.name }, ifMatch: undefined });
        notify(`${flag.name} is ${enabled ? 'on' : 'off'} in ${environment}.`);
      }
    },
  });
  /** by flag, the environment in which its switch is pending */
  const [pendingEnvironments, setPendingEnvironments] = useState<ReadonlyMap<string, string>>(new Map());
  const toggle = async (flag: SearchResultFeature, environment: string, enabled: boolean): Promise<void> => {
    setPendingEnvironments((all) => new Map([...all, [flag.name, environment]]));
    try {
      await switchFlag.mutateAsync({ flag, environment, enabled });
    } catch (error) {
      notifyError(error);
    } finally {
      setPendingEnvironments((all) => new Map([...all].filter(([name]) => name !== flag.name)));
    }
  };
  const toggleFavorite = async (flag: SearchResultFeature, isFavorite: boolean): Promise<void> => {
    try {
      const mutation = isFavorite ? addFavorite : removeFavorite;
      await mutation.mutateAsync({ params: { projectId: flag.project, featureName: flag.name } });
    } catch (error) {
      notifyError(error);
    }
  };
  const latestHandlers = useRef({ select, toggle, toggleFavorite });
  useEffect(() => {
    latestHandlers.current = { select, toggle, toggleFavorite };
  });
  const [actions] = useState<RowActions>(() => ({
    select: (...args) => latestHandlers.current.select(...args),
    toggle: (...args) => void latestHandlers.current.toggle(...args),
    toggleFavorite: (...args) => void latestHandlers.current.toggleFavorite(...args),
  }));
  return { pendingEnvironments, actions };
};
