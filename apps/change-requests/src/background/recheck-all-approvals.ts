import type { CallContext } from '@bunting/bus';
import { Refusal } from '@bunting/contracts';
import type { RecheckApprovals } from '../reviews/endpoints.ts';
import type { ChangeRequestReader } from '../persistence/change-request-reader.ts';

interface Options {
  readonly reader: ChangeRequestReader;
  readonly recheckApprovals: RecheckApprovals;
}

/** Takes back what no longer counts in all open requests with approvals, or in those of one project. */
export const recheckAllApprovals =
  ({ reader, recheckApprovals }: Options, project?: string) =>
  async (context: CallContext): Promise<void> => {
    let page = await reader.approvedAfter(0, project);
    while (page.length > 0) {
      for (const [ofProject, requests] of Map.groupBy(page, (request) => request.project)) {
        await recheckApprovals(ofProject, requests, context).catch((error: unknown) => {
          // The requests of an archived or deleted project are out of reach until it is revived.
          if (!(error instanceof Refusal) || error.kind !== 'NotFoundError') throw error;
        });
      }
      page = await reader.approvedAfter(page.at(-1)?.id ?? Number.MAX_SAFE_INTEGER, project);
    }
  };
