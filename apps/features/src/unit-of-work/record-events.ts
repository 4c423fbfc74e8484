import type { DomainEvent } from '../features/feature.ts';

/** Records events in a transaction, which emits them at its end, in the order in which they were recorded. */
export type RecordEvents = (events: readonly DomainEvent[]) => void;
