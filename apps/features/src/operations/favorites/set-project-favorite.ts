import { type Caller } from '@bunting/contracts';
import type { TransactionContext, UnitOfWork } from '../../persistence/unit-of-work.ts';
import { lockProject } from '../projects/lock-project.ts';

interface SetProjectFavoriteRequest extends TransactionContext {
  readonly params: { readonly projectId: string };
  readonly caller: Caller;
}

export const setProjectFavorite = (
  transaction: UnitOfWork,
  request: SetProjectFavoriteRequest,
  isFavorite: boolean,
): Promise<null> =>
  transaction(request, async (tx) => {
    const { params, caller } = request;
    const { project } = await lockProject(tx, { id: params.projectId, caller, access: 'authenticated' });
    if (!(await tx.projects.setFavorite(project.id, caller.id, isFavorite))) return null;
    const type = isFavorite ? 'project-favorited' : 'project-unfavorited';
    tx.events.emit([{ type, project: project.id, data: { project: project.id } }]);
    return null;
  });
