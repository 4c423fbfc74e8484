import { implement, JsonText } from '@bunting/bus';
import { GetProjectInsights } from '@bunting/contracts';
import { activityFor, noActivity } from './project-activity.ts';
import type { FeaturesContext } from '../context.ts';
import { heldProject } from './known-elsewhere.ts';

export const getProjectInsightsEndpoint = ({ projectOverviews: projects, bus }: FeaturesContext) =>
  implement(GetProjectInsights, async (asked) => {
    const { projectId: project } = asked.params;
    const [held, [active = noActivity]] = await Promise.all([
      heldProject(bus, asked),
      activityFor(bus, asked, { project }),
    ]);
    return new JsonText(await projects.insights(project, held, active));
  });
