import { type EventType, isEqual } from '@bunting/contracts';

/** An event of what the gateway owns: users, groups, roles, tokens, links and settings. It must never contain a secret or a network address. */
export interface GatewayEvent {
  readonly type: EventType;
  readonly project?: string | null;
  readonly environment?: string | null;
  readonly data?: object | null;
  readonly preData?: object | null;
}

/** The event of an update; none if `data` equals `preData`. */
export const eventsOfUpdate = (
  event: GatewayEvent & Required<Pick<GatewayEvent, 'data' | 'preData'>>,
): readonly GatewayEvent[] => (isEqual(event.data, event.preData) ? [] : [event]);
