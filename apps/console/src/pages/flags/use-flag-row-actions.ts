import {
  AddChanges,
  AddFavoriteFeature,
  DisableFeature,
  EnableFeature,
  RemoveFavoriteFeature,
  SearchFeatures,
  type SearchResultFeature,
} from '@bunting/contracts';
import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import { call } from '../../api/call.ts';
import { flagsMessages as text } from '../../messages/flags.ts';
import { notify, notifyError } from '../../shell/toasts.tsx';
import { readProtectedEnvironments } from '../../changes/protected-environments.ts';

/** The actions of a row of the list. A switch takes effect immediately, or as a change request where the environment is protected. */
export const useFlagRowActions = () => {
  const client = useQueryClient();
  const [pending, setPending] = useState<ReadonlyMap<string, string>>(new Map());
  const toggle = useCallback(
    async (flag: SearchResultFeature, environment: string, enabled: boolean): Promise<void> => {
      setPending((all) => new Map([...all, [flag.name, environment]]));
      try {
        const path = { projectId: flag.project, environment };
        if ((await readProtectedEnvironments(client, flag.project)).includes(environment)) {
          const body = [{ feature: flag.name, action: 'updateEnabled', payload: { enabled } }];
          const { id } = await call(AddChanges, { params: path, body });
          notify(text.proposed(id, flag.name, environment, enabled));
        } else {
          const operation = enabled ? EnableFeature : DisableFeature;
          await call(operation, { params: { ...path, featureName: flag.name } });
          notify(text.switched(flag.name, environment, enabled));
        }
        await client.invalidateQueries({ queryKey: [SearchFeatures.operationId] });
      } catch (error) {
        notifyError(error);
      } finally {
        setPending((all) => new Map([...all].filter(([name]) => name !== flag.name)));
      }
    },
    [client],
  );
  const favour = useCallback(
    async (flag: SearchResultFeature, isFavourite: boolean): Promise<void> => {
      try {
        const operation = isFavourite ? AddFavoriteFeature : RemoveFavoriteFeature;
        await call(operation, { params: { projectId: flag.project, featureName: flag.name } });
        await client.invalidateQueries({ queryKey: [SearchFeatures.operationId] });
      } catch (error) {
        notifyError(error);
      }
    },
    [client],
  );
  return { pending, toggle, favour };
};
