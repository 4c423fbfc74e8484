import { implement } from '@bunting/bus';
import { ListEventCreators } from '@bunting/contracts';
import { eventVisibilityOf } from '../../domain/event-visibility.ts';
import type { AuditContext } from '../context.ts';

export const listEventCreatorsEndpoint = ({ waitUntilFresh, creatorsOf }: AuditContext) =>
  implement(ListEventCreators, async (request) => {
    await waitUntilFresh(request);
    return creatorsOf(eventVisibilityOf(request.caller));
  });
