import type { Caller } from '../permissions.ts';
import type { OutboxEvent } from './event.ts';

/** An event as a rule decides it: what has happened. Who caused it, and when, is added where it is recorded. */
export type EventContent = Pick<OutboxEvent, 'type'> &
  Readonly<Partial<Omit<OutboxEvent, 'type' | 'tags' | 'createdAt' | 'createdBy' | 'createdByUserId'>>> & {
    readonly tags?: readonly OutboxEvent['tags'][number][];
  };

/** An event for the outbox. What its content leaves out is null, and without tags. */
export const outboxEvent = (
  {
    type,
    project = null,
    environment = null,
    featureName = null,
    data = null,
    preData = null,
    tags = [],
  }: EventContent,
  { by, now }: { readonly by: Pick<Caller, 'id' | 'name'>; readonly now: Date },
): OutboxEvent => ({
  type,
  createdAt: now.toISOString(),
  createdBy: by.name,
  createdByUserId: by.id,
  project,
  environment,
  featureName,
  data,
  preData,
  tags: [...tags],
});
