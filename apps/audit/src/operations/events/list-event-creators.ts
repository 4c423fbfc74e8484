import { implement } from '@bunting/bus';
import { ListEventCreators } from '@bunting/contracts';
import { type VisibleEvents, visibleEvents } from '../../domain/visible-events.ts';
import type { EventCreator } from '../../persistence/statistics/event-creators.ts';
import type { WaitUntilFresh } from './event-pages.ts';

export const listEventCreatorsEndpoint = (
  fresh: WaitUntilFresh,
  creatorsOf: (visible: VisibleEvents) => Promise<EventCreator[]>,
) =>
  implement(ListEventCreators, async (asking) => {
    await fresh(asking);
    return creatorsOf(visibleEvents(asking.caller));
  });
