import type { Transaction, GatewayWriteContext } from '../../persistence/unit-of-work.ts';
import type { GatewayContext } from '../context.ts';

/**
 * Runs a write to the roles of a project, in a transaction during which the project is not deleted.
 * @throws Refusal `NotFoundError` for a missing project
 */
export const withExistingProject = async (
  { transaction, projectDirectory }: Pick<GatewayContext, 'transaction' | 'projectDirectory'>,
  request: GatewayWriteContext & Parameters<GatewayContext['projectDirectory']['requireProject']>[0],
  project: string,
  write: (tx: Transaction) => Promise<void>,
) => {
  await projectDirectory.requireProject(request, project);
  await projectDirectory.awaitProjection([project]);
  return transaction(request, async (tx) => {
    await tx.lockExistingProjects([project]);
    await write(tx);
    return null;
  });
};
