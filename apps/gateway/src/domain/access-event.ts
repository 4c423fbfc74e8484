import { type EventType, isEqual } from '@bunting/contracts';

/** An event of what the gateway owns: users, groups, roles, tokens, links and settings. It must never contain a secret or a network address. */
export interface AccessEvent {
  readonly type: EventType;
  readonly project?: string | null;
  readonly environment?: string | null;
  readonly data?: object | null;
  readonly preData?: object | null;
}

/** The event of an update; none if `data` equals `preData`. */
export const eventsOfUpdate = (
  event: AccessEvent & Required<Pick<AccessEvent, 'data' | 'preData'>>,
): readonly AccessEvent[] => (isEqual(event.data, event.preData) ? [] : [event]);
