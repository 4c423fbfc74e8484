import { implement } from '@bunting/bus';
import { EndEnvironmentAccess, unavailable } from '@bunting/contracts';
import type { GatewayContext } from '../../access/context.ts';

/** Applies earlier deletions first, which end tokens of the settings, too; others that name the environment follow. */
export const endEnvironmentAccessEndpoint = ({
  transaction,
  projectAndEnvironmentDirectory,
  invalidateRights,
}: GatewayContext) =>
  implement(EndEnvironmentAccess, async (request) => {
    const { environment } = request.body;
    if ((await projectAndEnvironmentDirectory.catchUp()) > 0)
      throw unavailable(`An earlier deletion of the environment ${environment} may not be complete. Please try again.`);
    await transaction(request, async ({ endEnvironmentAccess }) => {
      await endEnvironmentAccess(environment);
      return null;
    });
    invalidateRights();
    return null;
  });
