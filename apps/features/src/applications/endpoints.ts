import { type Endpoint, reads, writes } from '@bunting/bus';
import {
  DeleteApplication,
  DescribeApplication,
  GetApplication,
  GetApplicationOverview,
  ListApplicationInstances,
  ListApplications,
  ListOutdatedSdks,
  ListProjectApplications,
} from '@bunting/contracts';
import { describeApplication } from './application.ts';
import { applicationNotFound } from '../refusals.ts';
import { type FeaturesContext, hiddenProjectsOf } from '../context.ts';

export function applicationEndpoints({
  applications,
  transaction,
  applicationsLimit,
}: FeaturesContext): readonly Endpoint[] {
  return [
    reads(ListApplicationInstances, ({ params, caller }) =>
      applications.instances(params.appName, params.environment, hiddenProjectsOf(caller)),
    ),

    reads(ListApplications, ({ query, caller }) => applications.all(query, hiddenProjectsOf(caller))),

    reads(ListOutdatedSdks, ({ params }) => applications.outdatedSdksOf(params.projectId)),

    reads(ListProjectApplications, ({ params, query }) => applications.ofProject(params.projectId, query)),

    reads(GetApplicationOverview, ({ params, caller }) =>
      applications.overview(params.appName, hiddenProjectsOf(caller)),
    ),

    reads(GetApplication, ({ params, caller }) => applications.one(params.appName, hiddenProjectsOf(caller))),

    writes(DescribeApplication, transaction, async (tx, { params, body, caller, now }) => {
      const application = { ...body, appName: params.appName, createdBy: caller.name };
      const { all } = await tx.applications.lockAndCount();
      const known = await tx.applications.find(application.appName, hiddenProjectsOf(caller));
      const isVisible = known?.isHidden === false;
      const events = describeApplication(application, { isKnown: isVisible, all }, applicationsLimit);
      // A caller who may not see the application gets the reply for a new one, and nothing is stored.
      if (known === undefined || isVisible) await tx.applications.saveDescription(application, now, events);
      return null;
    }),

    writes(DeleteApplication, transaction, async ({ applications }, { params, caller }) => {
      if (!(await applications.remove(params.appName, hiddenProjectsOf(caller))))
        throw applicationNotFound(params.appName);
      return null;
    }),
  ];
}
