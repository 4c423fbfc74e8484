import type { GatewayTransaction, GatewayWriteContext } from '../../persistence/unit-of-work.ts';
import type { GatewayContext } from '../context.ts';

/**
 * Runs a write to the roles of a project, in a transaction during which the project is not deleted.
 * @throws Refusal `NotFoundError` for a missing project
 */
export const withExistingProject = async (
  { transaction, catalogue }: Pick<GatewayContext, 'transaction' | 'catalogue'>,
  request: GatewayWriteContext & Parameters<GatewayContext['catalogue']['requireProject']>[0],
  project: string,
  write: (tx: GatewayTransaction) => Promise<void>,
) => {
  await catalogue.requireProject(request, project);
  await catalogue.awaitProjection([project]);
  return transaction(request, async (tx) => {
    await tx.lockExistingProjects([project]);
    await write(tx);
    return null;
  });
};
