import { describe, expect, it } from 'vitest';
import { describeApplication } from './application.ts';

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
