import { implement } from '@bunting/bus';
import { HideProject } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';

/** @param forget drops the cached callers of this gateway; others hear of it from the database */
export const hideProjectEndpoint = ({ hidings, invalidateTokenCache }: GatewayContext) =>
  implement(HideProject, async ({ body: { id, version } }) => {
    await hidings.hide(id, version);
    invalidateTokenCache();
    return null;
  });
