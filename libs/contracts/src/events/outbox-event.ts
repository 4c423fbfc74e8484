import { type Static, Type } from 'typebox';
import { Nullable, Timestamp } from '../model/schema.ts';
import type { Caller } from '../permissions.ts';
import { eventTypes } from './event-types.ts';

/** An event in the outbox of its producer; the audit service assigns its id. */
export const OutboxEvent = Type.Object({
  type: Type.Enum([...eventTypes], { type: 'string' }),
  createdAt: Timestamp('when it happened'),
  createdBy: Type.String({
    description: 'the actor: e-mail, else user name; the name of the token for an admin token',
  }),
  createdByUserId: Type.Number({ description: 'the id of the user who caused it' }),
  project: Nullable(Type.String()),
  environment: Nullable(Type.String()),
  featureName: Nullable(Type.String()),
  data: Type.Unknown({ description: 'the state of its subject after the event; null if the event has none' }),
  preData: Type.Unknown({ description: 'the state of its subject before the event; null if the event has none' }),
  tags: Type.Array(Type.Object({ type: Type.String(), value: Type.String() }), {
    description: 'the tags of the feature',
  }),
  groupType: Type.Optional(
    Nullable(Type.String(), {
      description: '`change-request`, or `transaction`; absent for an event that was caused alone',
    }),
  ),
  groupId: Type.Optional(
    Nullable(Type.String(), { description: 'the same for all events that one transaction or change request caused' }),
  ),
});
export type OutboxEvent = Static<typeof OutboxEvent>;

/** The part of an event that a rule decides: what happened. `outboxEvent` adds who caused it, and when. */
export type EventContent = Pick<OutboxEvent, 'type'> &
  Readonly<Partial<Omit<OutboxEvent, 'type' | 'tags' | 'createdAt' | 'createdBy' | 'createdByUserId'>>> & {
    readonly tags?: readonly OutboxEvent['tags'][number][];
  };

/** Completes the content of an event for the outbox. Members that the content leaves out become null, and its tags an empty list. */
export const outboxEvent = (
  {
    type,
    project = null,
    environment = null,
    featureName = null,
    data = null,
    preData = null,
    tags = [],
    groupType,
    groupId,
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
  ...(groupId === undefined ? {} : { groupType: groupType ?? null, groupId }),
});
