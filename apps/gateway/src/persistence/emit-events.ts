import { type Caller, outboxEvent } from '@bunting/contracts';
import type { Outbox } from '@bunting/outbox';
import type { GatewayEvent } from '../domain/gateway-event.ts';

/**
 * Emits the events of a write with its transaction. Only repositories have it: a write whose change has events takes them as its last
 * parameter, so that no caller can omit them.
 */
export type EmitEvents = (events: readonly GatewayEvent[]) => void;

/** The events of a write, from the stored object: it has what the database generates, such as an id. */
export type EventsOf<Stored> = (stored: Stored) => readonly GatewayEvent[];

/** Emits events into an outbox. @param context the caller and the time of the events */
export const emitEventsInto =
  (outbox: Pick<Outbox, 'emit'>, { caller: by, now }: { readonly caller: Caller; readonly now: Date }): EmitEvents =>
  (events) =>
    outbox.emit(events.map((event) => outboxEvent(event, { by, now })));
