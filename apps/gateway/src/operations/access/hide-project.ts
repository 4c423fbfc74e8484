import { implement } from '@bunting/bus';
import { HideProject } from '@bunting/contracts';
import type { GatewayContext } from '../../access/context.ts';

/** Applies the hiding in this gateway before the reply; other gateways do so when the database notifies them of the change. */
export const hideProjectEndpoint = ({ pendingPrivateProjects, invalidateRights }: GatewayContext) =>
  implement(HideProject, async ({ body: { id, version } }) => {
    await pendingPrivateProjects.hide(id, version);
    invalidateRights();
    return null;
  });
