import { implement } from '@bunting/bus';
import { DescribeApplication } from '@bunting/contracts';
import { describeApplication } from '../../domain/applications/describe-application.ts';
import { hiddenProjectsOf } from '../visibility.ts';
import type { FeaturesContext } from '../context.ts';

export const describeApplicationEndpoint = ({ transaction, applications, applicationsLimit }: FeaturesContext) =>
  implement(DescribeApplication, async (request) => {
    const { params, body, caller, now } = request;
    // A caller who may not see the application gets the reply for a new one, and nothing is stored.
    const isHidden = await applications.isHidden(params.appName, hiddenProjectsOf(caller));
    return transaction(request, async (tx) => {
      if (isHidden) return null;
      const application = { ...body, appName: params.appName, createdBy: caller.name };
      const { all } = await tx.applications.lockAndCount();
      const isKnown = await tx.applications.exists(application.appName);
      const events = describeApplication(application, { isKnown, all }, applicationsLimit);
      await tx.applications.saveDescription(application, now, events);
      return null;
    });
  });
