import { implement } from '@bunting/bus';
import { HideProject } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';

/** Invalidates the token cache of this gateway; other gateways do so when the database notifies them of the change. */
export const hideProjectEndpoint = ({ pendingPrivateProjects, invalidateTokenCache }: GatewayContext) =>
  implement(HideProject, async ({ body: { id, version } }) => {
    await pendingPrivateProjects.hide(id, version);
    invalidateTokenCache();
    return null;
  });
