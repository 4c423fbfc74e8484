import type { ProjectDecision } from '../../domain/project.ts';
import type { Work } from '../../persistence/unit-of-work.ts';

/** Saves what was decided of a project, and tells it. */
export const keepProject = async (
  { projectSettings, events }: Work,
  { project, events: told }: ProjectDecision,
  now: Date,
): Promise<void> => {
  if (told.length === 0) return;
  await projectSettings.save(project, now.toISOString());
  events.record(told);
};
