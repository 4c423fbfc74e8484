import { implement } from '@bunting/bus';
import { authorise, ReportEdgeInstance } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';

export const reportEdgeInstanceEndpoint = ({ transaction }: FeaturesContext) =>
  implement(ReportEdgeInstance, async (request) => {
    const { body, caller, now } = request;
    authorise(caller, ReportEdgeInstance.permission, {});
    return transaction(request, async ({ edgeInstances }) => {
      await edgeInstances.store(body, now);
      return null;
    });
  });
