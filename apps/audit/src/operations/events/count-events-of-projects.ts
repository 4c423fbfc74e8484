import { implement } from '@bunting/bus';
import { CountEventsOfProjects } from '@bunting/contracts';
import type { ProjectActivity } from '../../persistence/statistics/project-activity.ts';
import type { WaitUntilFresh } from './event-pages.ts';

export const countEventsOfProjectsEndpoint = (
  fresh: WaitUntilFresh,
  activityOf: (project: string | undefined, days: number) => Promise<ProjectActivity>,
) =>
  implement(CountEventsOfProjects, async (request) => {
    await fresh(request);
    const { project, days = 0 } = request.body;
    return { projects: await activityOf(project, days) };
  });
