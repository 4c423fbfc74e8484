import type { Bus, OperationRequest } from '@bunting/bus';
import type { UpdateProject, UpdateProjectSettings } from '@bunting/contracts';
import type { ProjectDecision, StoredProject } from './project.ts';
import type { Transaction } from '../unit-of-work/unit-of-work.ts';
import { hideProjectInGateway } from './hide-project-in-gateway.ts';

/** Saves a decided project. One that becomes private is hidden before the commit. */
export const saveProject = async (
  { projects }: Pick<Transaction, 'projects'>,
  { before, decision }: { readonly before: StoredProject; readonly decision: ProjectDecision },
  request: OperationRequest<typeof UpdateProject | typeof UpdateProjectSettings>,
  bus: Bus,
): Promise<void> => {
  const { project } = decision;
  if (decision.events.length === 0) return;
  const version = await projects.save(project, request.now.toISOString(), decision.events);
  if (project.mode === 'private' && before.mode !== 'private')
    await hideProjectInGateway(bus, { id: project.id, version }, request);
};
