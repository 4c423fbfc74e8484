import { implement } from '@bunting/bus';
import { HideProject } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';

/** Other gateways invalidate their token caches on the notification of the database. */
export const hideProjectEndpoint = ({ pendingPrivateProjects, invalidateTokenCache }: GatewayContext) =>
  implement(HideProject, async ({ body: { id, version } }) => {
    await pendingPrivateProjects.hide(id, version);
    invalidateTokenCache();
    return null;
  });
