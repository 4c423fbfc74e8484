import type { OperationRequest } from '@bunting/bus';
import type { UpdateProject, UpdateProjectSettings } from '@bunting/contracts';
import type { ProjectDecision, StoredProject } from '../../domain/project.ts';
import type { Work } from '../../persistence/unit-of-work.ts';
import type { Hide } from './hide-project.ts';

/** Saves what was decided of a project, and tells it. A project that becomes private is hidden before the commit. */
export const keepProject = async (
  { projectSettings, events }: Work,
  before: StoredProject,
  { project, events: told }: ProjectDecision,
  request: OperationRequest<typeof UpdateProject | typeof UpdateProjectSettings>,
  hide: Hide,
): Promise<void> => {
  if (told.length === 0) return;
  const version = await projectSettings.save(project, request.now.toISOString());
  events.record(told);
  if (project.mode === 'private' && before.mode !== 'private') await hide({ id: project.id, version }, request);
};
