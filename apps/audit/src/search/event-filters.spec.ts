import type { Caller } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { anEvent } from '../../test/builders.ts';
import type { LoggedEvent } from './describe-event.ts';
import {
  eventVisibilityOf,
  limitFeedPage,
  maxEventsOfFeedPage,
  maxIdsOfFeedPage,
  requireAfterNotBeyondLog,
  requireEventNotDropped,
  requireFromNotAfterTo,
  requireFromNotBeyondNextEvent,
  searchableTexts,
  withoutHiddenProject,
} from './event-filters.ts';

function visibleTo(caller: Partial<Caller>) {
  return eventVisibilityOf({ id: 1, name: 'kim', grants: [], ...caller });
}

describe('The visibility of events', () => {
  it('shows an admin the events of all projects and of none', () => {
    expect(visibleTo({ grants: [{ permission: 'ADMIN' }] })).toEqual({ ofNoProject: true, hiddenProjects: [] });
  });

  it('shows other callers all projects and nothing else, whatever their permissions', () => {
    const nothingBeyond = { ofNoProject: false, hiddenProjects: [] };
    expect(visibleTo({})).toEqual(nothingBeyond);
    expect(visibleTo({ grants: [{ permission: 'CREATE_SEGMENT' }] })).toEqual(nothingBeyond);
    expect(visibleTo({ grants: [{ permission: 'ADMIN', project: 'shop' }] })).toEqual(nothingBeyond);
    expect(visibleTo({ grants: [{ permission: 'UPDATE_FEATURE', project: 'shop' }] })).toEqual(nothingBeyond);
  });

  it('shows a segment that left a hidden project without what it was there', () => {
    const moved = {
      type: 'segment-updated',
      project: 'shop',
      data: { name: 'new', project: 'shop' },
      preData: { name: 'secret', project: 'vault' },
    } as unknown as LoggedEvent;
    const seen = withoutHiddenProject(moved, visibleTo({ hiddenProjects: ['vault'] }));
    expect(seen).toEqual({ ...moved, preData: null });
    expect(withoutHiddenProject(moved, visibleTo({ hiddenProjects: ['bank'] }))).toBe(moved);
  });

  it('shows nothing of a project that is hidden', () => {
    expect(visibleTo({ hiddenProjects: ['vault'] })).toEqual({ ofNoProject: false, hiddenProjects: ['vault'] });
  });
});

describe('in a log whose last event is the ninth', () => {
  it('a feed begins after an event of the log, or after none', () => {
    for (const after of [0, 1, 9]) expect(() => requireAfterNotBeyondLog(after, 9)).not.toThrow();
    expect(() => requireAfterNotBeyondLog(10, 9)).toThrow(
      'The `/query/after` property must be at most 9: the last event has the id 9. You sent 10.',
    );
  });

  it('a verified range begins at an event of the log, at the next one, or anywhere', () => {
    for (const from of [undefined, 1, 9, 10]) expect(() => requireFromNotBeyondNextEvent(from, 9)).not.toThrow();
    expect(() => requireFromNotBeyondNextEvent(11, 9)).toThrow(
      'The `/query/from` property must be at most 10: the last event has the id 9. You sent 11.',
    );
  });
});

it('a range of events does not end before it begins', () => {
  for (const [from, to] of [[1, 2], [2, 2], [undefined, 1], [7]])
    expect(() => requireFromNotAfterTo(from, to)).not.toThrow();
  expect(() => requireFromNotAfterTo(3, 2)).toThrow('The `/query/from` property must not be greater than `/query/to`.');
});

it('a command names its options, and not the parameters of the operation, in what it refuses', () => {
  expect(() => requireFromNotAfterTo(3, 2, '--')).toThrow('The `--from` property must not be greater than `--to`.');
  expect(() => requireFromNotBeyondNextEvent(11, 9, '--')).toThrow('The `--from` property must be at most 10');
});

it('the event of an externally recorded hash that was dropped for its age is refused, with the option in which it was sent', () => {
  const externalHash = { id: 3, hash: '', path: '--known' };
  for (const droppedId of [0, 2, 3]) expect(() => requireEventNotDropped(externalHash, droppedId)).not.toThrow();
  expect(() => requireEventNotDropped(externalHash, 4)).toThrow(
    'The `--known` property names event 3, which was dropped for its age: the log begins after event 4.',
  );
});

function anEventOfLimitFeedPage(id: number, characters = 100) {
  return { id, size: characters };
}

describe('a page of the event feed', () => {
  it('ends at the last id of the log when it has all events up to there', () => {
    expect(limitFeedPage([anEventOfLimitFeedPage(3)], 1, 9)).toEqual({ events: [anEventOfLimitFeedPage(3)], next: 9 });
  });

  it('ends after the ids that it covers, also without an event', () => {
    expect(limitFeedPage([], 5, 1_000_000)).toEqual({ events: [], next: 5 + maxIdsOfFeedPage });
  });

  it('does not go back for a client that is ahead of the log', () => {
    expect(limitFeedPage([], 12, 9).next).toBe(12);
  });

  it('ends at its last event when it has the maximum number of events', () => {
    const found = Array.from({ length: maxEventsOfFeedPage }, (_, nth) => anEventOfLimitFeedPage(nth + 1));
    expect(limitFeedPage(found, 0, 1_000).next).toBe(maxEventsOfFeedPage);
  });

  it('ends before the event that would exceed the maximum number of characters', () => {
    const { events, next } = limitFeedPage(
      [anEventOfLimitFeedPage(1, 300_000), anEventOfLimitFeedPage(2, 100_000), anEventOfLimitFeedPage(3, 1)],
      0,
      9,
    );
    expect(events.map(({ id }) => id)).toEqual([1, 2]);
    expect(next).toBe(2);
  });

  it('has its first event, however large the event is', () => {
    const { events, next } = limitFeedPage([anEventOfLimitFeedPage(1, 900_000), anEventOfLimitFeedPage(2)], 0, 9);
    expect(events.map(({ id }) => id)).toEqual([1]);
    expect(next).toBe(1);
  });
});

function partsOf(...said: Parameters<typeof anEvent>) {
  const { creator, constant, varying } = searchableTexts(anEvent(...said));
  return [creator, constant.split('\u001f'), varying.split('\u001f')];
}

describe('The searchable texts of an event', () => {
  it('contain its actor, all keys and values of both data, and its tags: what is the same before and after apart from the rest', () => {
    expect(
      partsOf({
        createdBy: 'Mia@Example.com',
        data: { title: 'Half of Oslo', disabled: false, segments: [7, { deep: 'er' }], nothing: null },
        preData: { title: 'Everyone', disabled: false, segments: [] },
        tags: [{ type: 'simple', value: 'Nordic' }],
      }),
    ).toEqual([
      'mia@example.com',
      ['title', 'disabled', 'false', 'segments', 'simple:nordic'],
      ['half of oslo', '7', 'deep', 'er', 'nothing', 'everyone'],
    ]);
  });

  it('contain the username of a user whom the event names by an e-mail address', () => {
    const [creator] = partsOf({ createdBy: 'mia@example.com', createdByUsername: 'Mia.K' });
    expect(creator).toBe('mia@example.com\u001fmia.k');
  });

  it('have numbers and times apart, which differ more often', () => {
    expect(
      partsOf({ data: { rollout: '25', createdAt: '2026-11-21T08:00:00.000Z', weight: -0.5, name: 'v2' } }),
    ).toEqual([
      'mia@example.com',
      ['rollout', 'createdat', 'weight', 'name', 'v2'],
      ['25', '2026-11-21t08:00:00.000z', '-0.5'],
    ]);
  });

  it('contain text without JSON escapes', () => {
    expect(partsOf({ data: { description: 'a "quoted" \\ line\nand ünïcode 😀' } })[1]).toContain(
      'a "quoted" \\ line and ünïcode 😀',
    );
  });

  it('contain a part that occurs several times only once', () => {
    expect(partsOf({ data: { a: 'same', b: ['same', 'SAME'] }, preData: { a: 'same' } })).toEqual([
      'mia@example.com',
      ['a', 'same'],
      ['b'],
    ]);
    const tag = { type: 'simple', value: 'x' };
    expect(partsOf({ data: { a: 'simple:x' }, preData: { a: 'y' }, tags: [tag, tag] })).toEqual([
      'mia@example.com',
      ['a'],
      ['simple:x', 'y'],
    ]);
  });

  it('separate parts that contain control characters', () => {
    expect(partsOf({ data: { 'a\u001fb': 'c\u0000d\u001fe' } })[1]).toEqual(['a b', 'c d e']);
  });
});
