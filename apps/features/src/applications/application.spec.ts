import type { Caller } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import {
  admitApplications,
  announceApplication,
  type ApplicationLookup,
  availableSlots,
  describeApplication,
  isFrontendTokenCaller,
  mayAnnounce,
  type ReportedApplicationInstance,
  unknownApplications,
} from './application.ts';

describe('the description of an application', () => {
  const application = { appName: 'till', createdBy: 'mia', description: 'Sells' };

  it('adds it to the list', () => {
    expect(describeApplication(application, { isKnown: false, all: 99 }, 100)).toEqual([
      { type: 'application-created', data: application },
    ]);
  });

  it('is refused if the list is full and does not have it', () => {
    expect(() => describeApplication(application, { isKnown: false, all: 100 }, 100)).toThrow(/limit of 100/);
    expect(describeApplication(application, { isKnown: true, all: 100 }, 100)).toEqual([]);
  });
});

const instance = (appName: string, about: Partial<ReportedApplicationInstance> = {}): ReportedApplicationInstance => ({
  appName,
  projects: ['shop'],
  environment: 'production',
  isFrontend: false,
  createdBy: 'mia',
  ...about,
});
const stored = (index: number, about: Partial<ApplicationLookup> = {}): ApplicationLookup => ({
  index,
  isKnown: true,
  needsNoCreatedEvent: true,
  needsNoWrite: false,
  ...about,
});
const unknown = (index: number) => stored(index, { isKnown: false, needsNoCreatedEvent: false });
const key = (...permissions: ('CLIENT' | 'FRONTEND')[]): Caller => ({
  id: 7,
  name: 'web',
  grants: permissions.map((permission) => ({ permission })),
});

describe('a key', () => {
  it('is public if only frontends can use it', () => {
    expect(isFrontendTokenCaller(key('FRONTEND'))).toBe(true);
    expect(isFrontendTokenCaller(key('CLIENT'))).toBe(false);
    expect(isFrontendTokenCaller(key('CLIENT', 'FRONTEND'))).toBe(false);
  });
});

describe('the list of applications', () => {
  it.each([
    ['an empty list', { all: 0, frontend: 0 }, 100, 10],
    ['a list with other applications', { all: 95, frontend: 0 }, 5, 5],
    ['a list whose share of frontend keys is used up', { all: 10, frontend: 10 }, 90, 0],
    ['a full list', { all: 100, frontend: 3 }, 0, 0],
    ['a list that is longer than the limit', { all: 120, frontend: 20 }, 0, 0],
  ])('has slots for server and for frontend keys in %s', (_, counts, server, frontend) => {
    expect(availableSlots(counts, 100, false)).toBe(server);
    expect(availableSlots(counts, 100, true)).toBe(frontend);
  });
});

describe('a report', () => {
  const reported = [instance('shop'), instance('till'), instance('till', { instanceId: 'b' }), instance('scale')];

  it('names each unknown application once', () => {
    expect(unknownApplications(reported, [stored(0), unknown(1), unknown(2), unknown(3)])).toEqual(['till', 'scale']);
  });

  it('announces applications that it may add, and those that only frontend keys have named', () => {
    expect(mayAnnounce([], [stored(0), unknown(1)])).toBe(false);
    expect(mayAnnounce(['till'], [stored(0), unknown(1)])).toBe(true);
    expect(mayAnnounce([], [stored(0, { needsNoCreatedEvent: false })])).toBe(true);
  });

  const all = [stored(0), unknown(1), unknown(2), unknown(3)];
  it.each([
    [
      'lists what the budget and the list allow',
      ['till', 'scale'],
      5,
      ['shop', 'till', 'scale'],
      { limit: 0, rate: 0 },
    ],
    ['does not list what exceeds the budget', ['till'], 5, ['shop', 'till'], { limit: 0, rate: 1 }],
    ['does not list what exceeds the list', ['till', 'scale'], 1, ['shop', 'till'], { limit: 1, rate: 0 }],
    ['lists known applications only without budget', [], 5, ['shop'], { limit: 0, rate: 2 }],
  ])('%s', (_, granted, slots, listed, unlisted) => {
    const unlistedNames = unknownApplications(reported, all);
    const admission = admitApplications(reported, all, { unknown: unlistedNames, granted, slots });
    expect([...admission.listed]).toEqual(listed);
    expect(admission.toWrite).toEqual(reported.filter(({ appName }) => listed.includes(appName)));
    expect(admission.unlisted).toEqual(unlisted);
  });

  it('does not write what has not changed within a minute', () => {
    const unchanged = [stored(0, { needsNoWrite: true }), stored(1), stored(2, { needsNoWrite: true }), stored(3)];
    expect(admitApplications(reported, unchanged, { unknown: [], granted: [], slots: 0 }).toWrite).toEqual([
      reported[1],
      reported[3],
    ]);
  });

  it('announces an application with the environments of its own instances in each project', () => {
    const application = { appName: 'till', sdkVersion: null, strategies: [], createdAt: '2026-03-01T10:00:00.000Z' };
    const seen = [
      instance('till', { projects: ['shop', 'bank'] }),
      instance('till', { environment: 'development' }),
      instance('shop', { projects: ['garage'] }),
    ];
    expect(announceApplication(application, seen, '2026-03-01T10:30:00.000Z')).toEqual({
      type: 'application-created',
      data: {
        ...application,
        lastSeenAt: '2026-03-01T10:30:00.000Z',
        usage: [
          { project: 'shop', environments: ['development', 'production'] },
          { project: 'bank', environments: ['production'] },
        ],
      },
    });
  });
});
