import { GetUiConfig } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { operationQuery } from '../../api/queries.ts';

/** The address of this installation for others, and whether it is configured. */
export const usePublicUrl = (): { readonly base: string; readonly isConfigured: boolean } => {
  const configured = useQuery(operationQuery(GetUiConfig, {})).data?.unleashUrl ?? '';
  return { base: (configured || location.origin).replace(/\/$/, ''), isConfigured: configured !== '' };
};
