import { type EventContent, isEqual } from '@bunting/contracts';

/** The events of a write, from the stored object: it has what the database generates, such as an id. They contain no secret and no network address. */
export type EventsOf<Stored> = (stored: Stored) => readonly EventContent[];

/** The event of an update; none if `data` equals `preData`. */
export function eventsOfUpdate(
  event: EventContent & Required<Pick<EventContent, 'data' | 'preData'>>,
): readonly EventContent[] {
  return isEqual(event.data, event.preData) ? [] : [event];
}
