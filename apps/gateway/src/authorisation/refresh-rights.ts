import {
  type AnyOperation,
  CreateProject,
  DeleteProject,
  serviceOf,
  UpdateProject,
  UpdateProjectSettings,
} from '@bunting/contracts';
import type { Projection } from '@bunting/outbox';

interface SettlingNeeds {
  readonly projects: Pick<Projection, 'catchUp'>;
  readonly forget: () => void;
  readonly waitMs: number;
}

/** What changes which projects there are, or who may see them. */
const projectChanges: readonly AnyOperation[] = [CreateProject, UpdateProject, UpdateProjectSettings, DeleteProject];

/**
 * Sees to it that the very next request is judged by what a write has just changed: whoever made a project owns it, and nobody else sees
 * it when it is private. Where that cannot be had in time the answer goes out all the same, since the write is done.
 */
export const refreshRightsAfter =
  ({ projects, forget, waitMs }: SettlingNeeds) =>
  async (operation: AnyOperation): Promise<void> => {
    if (projectChanges.includes(operation)) await projects.catchUp(waitMs);
    else if (serviceOf(operation) !== 'gateway') return;
    forget();
  };
