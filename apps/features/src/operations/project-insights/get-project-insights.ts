import { implement, JsonText } from '@bunting/bus';
import { GetProjectInsights } from '@bunting/contracts';
import { loadActivity, activityWithoutEvents } from './project-activity.ts';
import type { FeaturesContext } from '../context.ts';
import { loadProjectMembers } from './external-project-data.ts';

export const getProjectInsightsEndpoint = ({ projectOverviews, bus }: FeaturesContext) =>
  implement(GetProjectInsights, async (request) => {
    const { projectId } = request.params;
    const [members, [active = activityWithoutEvents]] = await Promise.all([
      loadProjectMembers(bus, request),
      loadActivity(bus, request, { project: projectId }),
    ]);
    return new JsonText(await projectOverviews.insights(projectId, members, active));
  });
