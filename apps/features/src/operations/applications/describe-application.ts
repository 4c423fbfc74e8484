import { implement } from '@bunting/bus';
import { DescribeApplication, limitExceeded } from '@bunting/contracts';
import { authoriseAtRoot } from '../authorise-at-root.ts';
import { hiddenProjectsOf } from '../visibility.ts';
import type { FeaturesContext } from '../context.ts';

export const describeApplicationEndpoint = ({ transaction, applications, applicationsLimit }: FeaturesContext) =>
  implement(DescribeApplication, async (request) => {
    const { params, body, caller, now } = request;
    authoriseAtRoot(caller, DescribeApplication.permission);
    // A caller who may not see the application gets the reply for a new one, and nothing is stored.
    const isHidden = await applications.isHidden(params.appName, hiddenProjectsOf(caller));
    return transaction(request, async (tx) => {
      if (isHidden) return null;
      const application = { ...body, appName: params.appName, createdBy: caller.name };
      const outcome = await tx.applications.describe(application, now, applicationsLimit);
      if (outcome === 'full') throw limitExceeded('application', applicationsLimit);
      if (outcome === 'created') tx.events.emit([{ type: 'application-created', data: application }]);
      return null;
    });
  });
