import { implement } from '@bunting/bus';
import { GetProjectActivity } from '@bunting/contracts';
import type { ProjectActivity } from '../../persistence/statistics/project-activity.ts';
import type { WaitUntilFresh } from './read-event-page.ts';

export const getProjectActivityEndpoint = (
  waitUntilFresh: WaitUntilFresh,
  activityOf: (project: string | undefined, days: number) => Promise<ProjectActivity>,
) =>
  implement(GetProjectActivity, async (request) => {
    await waitUntilFresh(request);
    const { project, days = 0 } = request.body;
    return { projects: await activityOf(project, days) };
  });
