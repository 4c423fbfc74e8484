import { describe, expect, it } from 'vitest';
import { parseChangeRequestFilter } from './change-request-filter.ts';

describe('a filter of change requests', () => {
  it('matches every request where it is absent', () => {
    expect(parseChangeRequestFilter({})).toEqual({});
  });

  it('names the author, a requested approver, and whether requests are open', () => {
    expect(parseChangeRequestFilter({ createdBy: 'IS:7', requestedApproverId: 'IS:8', state: 'IS:open' })).toEqual({
      createdBy: 7,
      requestedApprover: 8,
      isOpen: true,
    });
    expect(parseChangeRequestFilter({ state: 'IS:closed' })).toEqual({ isOpen: false });
  });

  it.each([
    [{ createdBy: '7' }, 'The `/query/createdBy` property must begin with IS, and a colon. You sent "7".'],
    [{ createdBy: 'IS:-7' }, 'The `/query/createdBy` property must end with the id of a user. You sent "IS:-7".'],
    [
      { requestedApproverId: 'IS:1,2' },
      'The `/query/requestedApproverId` property must end with the id of a user. You sent "IS:1,2".',
    ],
    [{ state: 'IS:Draft' }, 'The `/query/state` property must end with open or closed. You sent "IS:Draft".'],
  ])('is refused where it is malformed: %j', (query, message) => {
    expect(() => parseChangeRequestFilter(query)).toThrow(message);
  });
});
