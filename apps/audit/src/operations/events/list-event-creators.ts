import { implement } from '@bunting/bus';
import { ListEventCreators } from '@bunting/contracts';
import { type VisibleEvents, visibleEvents } from '../../domain/visible-events.ts';
import type { EventCreator } from '../../persistence/statistics/event-creators.ts';
import type { WaitUntilFresh } from './read-event-page.ts';

export const listEventCreatorsEndpoint = (
  waitUntilFresh: WaitUntilFresh,
  creatorsOf: (visible: VisibleEvents) => Promise<EventCreator[]>,
) =>
  implement(ListEventCreators, async (request) => {
    await waitUntilFresh(request);
    return creatorsOf(visibleEvents(request.caller));
  });
