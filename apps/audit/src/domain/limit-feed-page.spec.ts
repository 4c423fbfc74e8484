import { describe, expect, it } from 'vitest';
import { limitFeedPage, maxEventsOfFeedPage, maxIdsOfFeedPage } from './limit-feed-page.ts';

const anEvent = (id: number, characters = 100) => ({ id, json: 'x'.repeat(characters) });

describe('a page of the event feed', () => {
  it('ends at the last id of the log when it has all events up to there', () => {
    expect(limitFeedPage([anEvent(3)], 1, 9)).toEqual({ events: [anEvent(3)], next: 9 });
  });

  it('ends after the ids that it covers, also without an event', () => {
    expect(limitFeedPage([], 5, 1_000_000)).toEqual({ events: [], next: 5 + maxIdsOfFeedPage });
  });

  it('does not go back for a client that is ahead of the log', () => {
    expect(limitFeedPage([], 12, 9).next).toBe(12);
  });

  it('ends at its last event when it has the maximum number of events', () => {
    const found = Array.from({ length: maxEventsOfFeedPage }, (_, nth) => anEvent(nth + 1));
    expect(limitFeedPage(found, 0, 1_000).next).toBe(maxEventsOfFeedPage);
  });

  it('ends before the event that would exceed the maximum number of characters', () => {
    const { events, next } = limitFeedPage([anEvent(1, 300_000), anEvent(2, 100_000), anEvent(3, 1)], 0, 9);
    expect(events.map(({ id }) => id)).toEqual([1, 2]);
    expect(next).toBe(2);
  });

  it('has its first event, however large the event is', () => {
    const { events, next } = limitFeedPage([anEvent(1, 900_000), anEvent(2)], 0, 9);
    expect(events.map(({ id }) => id)).toEqual([1]);
    expect(next).toBe(1);
  });
});
