import { callIfSupported, implement, JsonText, onBehalfOf } from '@bunting/bus';
import { CountMembers, ListProjects } from '@bunting/contracts';
import { hiddenFrom } from '../seen-by.ts';
import { activityIfKnown } from './project-activity.ts';
import type { FeaturesContext } from '../context.ts';

export const listProjectsEndpoint = ({ projects, bus }: FeaturesContext) =>
  implement(ListProjects, async (asked) => {
    const [held, recent = []] = await Promise.all([
      callIfSupported(bus, CountMembers, { body: {} }, onBehalfOf(asked)),
      activityIfKnown(bus, asked, {}),
    ]);
    return new JsonText(await projects.all(asked.caller.id, hiddenFrom(asked.caller), held?.projects ?? [], recent));
  });
