import { GetUiConfig } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { operationQuery } from '../../api/queries-and-mutations.ts';
import { ownUrl } from '../../base-path.ts';

/** The URL of this installation for other programs, without a slash at the end; if it is not configured, that of this page. */
export function usePublicUrl(): { readonly base: string; readonly isConfigured: boolean } {
  const configuredUrl = useQuery(operationQuery(GetUiConfig, {})).data?.unleashUrl ?? '';
  return { base: (configuredUrl || ownUrl).replace(/\/$/, ''), isConfigured: configuredUrl !== '' };
}

/** The absolute URL of a link of the API, which is relative where the server has no public URL. */
export function absoluteUrlOf(link: string): string {
  return new URL(link, location.origin).href;
}
