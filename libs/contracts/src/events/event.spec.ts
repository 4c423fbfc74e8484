import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { additionalEventTypes, eventTypes, unleashEventTypes } from './event-types.ts';
import { outboxEvent } from './event.ts';

describe('the event types', () => {
  it('are the 146 of the interface and those that Bunting adds, each once', () => {
    expect(unleashEventTypes).toHaveLength(146);
    expect(eventTypes).toEqual([...unleashEventTypes, ...additionalEventTypes]);
    expect(new Set(eventTypes).size).toBe(146 + additionalEventTypes.length);
  });

  it('begin with the list of the interface in its order', () => {
    // The digest was taken from the list in the interface, one type a line, and not from this code.
    const digest = createHash('sha256').update(unleashEventTypes.join('\n')).digest('hex');
    expect(digest).toBe('76dad4c6d8d748388d1156f4e6142928e72cfd7b7f55849eb8a106ab6146f980');
  });
});

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

it('an event names the username of a user whom it names by the e-mail address, for searches', () => {
  const byUsername = { ...origin, by: { ...origin.by, username: 'ada' } };
  expect(outboxEvent({ type: 'segment-created' }, byUsername).createdByUsername).toBe('ada');
  expect(
    outboxEvent({ type: 'segment-created' }, { ...origin, by: { ...origin.by, username: null } }),
  ).not.toHaveProperty('createdByUsername');
});
