import type { Transaction, GatewayWriteContext } from '../../unit-of-work/unit-of-work.ts';
import type { GatewayContext } from '../../access/context.ts';

/**
 * Runs a write to the roles of a project, in a transaction during which the project is not deleted.
 * @throws Refusal `NotFoundError` for a missing project
 */
export const withExistingProject = async (
  {
    transaction,
    projectAndEnvironmentDirectory,
  }: Pick<GatewayContext, 'transaction' | 'projectAndEnvironmentDirectory'>,
  request: GatewayWriteContext & Parameters<GatewayContext['projectAndEnvironmentDirectory']['requireProject']>[0],
  project: string,
  write: (tx: Transaction) => Promise<void>,
) => {
  await projectAndEnvironmentDirectory.requireProject(request, project);
  await projectAndEnvironmentDirectory.awaitProjection([project]);
  return transaction(request, async (tx) => {
    await tx.lockExistingProjects([project]);
    await write(tx);
    return null;
  });
};
