import { implement } from '@bunting/bus';
import { DescribeApplication } from '@bunting/contracts';
import { tooMany } from '../../domain/refusals.ts';
import { authoriseEverywhere } from '../authorise-everywhere.ts';
import { hiddenProjectsOf } from '../visibility.ts';
import type { FeaturesContext } from '../context.ts';

/** @param limit how many applications the list holds */
export const describeApplicationEndpoint = ({ transaction, applications, applicationsLimit: limit }: FeaturesContext) =>
  implement(DescribeApplication, async (request) => {
    const { params, body, caller, now } = request;
    authoriseEverywhere(caller, DescribeApplication.permission);
    // Answered as for a new one: that it is there is not told to a caller who may not see it, and neither is it changed.
    const isHidden = await applications.isHidden(params.appName, hiddenProjectsOf(caller));
    return transaction(request, async (tx) => {
      if (isHidden) return null;
      const application = { ...body, appName: params.appName, createdBy: caller.name };
      const outcome = await tx.applications.describe(application, now, limit);
      if (outcome === 'full') throw tooMany('application', limit);
      if (outcome === 'created') tx.events.record([{ type: 'application-created', data: application }]);
      return null;
    });
  });
