import { expect, it } from 'vitest';
import { outboxEvent } from './outbox-event.ts';

const origin = { by: { id: 7, name: 'ada@example.org' }, now: new Date('2026-05-01T12:00:00.000Z') };

it('an event is recorded with who caused it and when, and with null for what it is not about', () => {
  expect(outboxEvent({ type: 'segment-created', data: { id: 3 } }, origin)).toEqual({
    type: 'segment-created',
    createdAt: '2026-05-01T12:00:00.000Z',
    createdBy: 'ada@example.org',
    createdByUserId: 7,
    project: null,
    environment: null,
    featureName: null,
    data: { id: 3 },
    preData: null,
    tags: [],
  });
});
