import type { Caller } from '../permissions.ts';
import type { RecordedEvent } from './event.ts';

/** An event as a rule decides it: what has happened. Who caused it, and when, is added where it is recorded. */
export type EventContent = Pick<RecordedEvent, 'type'> &
  Readonly<Partial<Omit<RecordedEvent, 'type' | 'tags' | 'createdAt' | 'createdBy' | 'createdByUserId'>>> & {
    readonly tags?: readonly RecordedEvent['tags'][number][];
  };

/** An event for the outbox. What its content leaves out is null, and without tags. */
export const recordedEvent = (
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
): RecordedEvent => ({
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
