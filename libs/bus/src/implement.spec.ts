import { allOperations, serviceOf } from '@bunting/contracts';
import { describe, expect, it } from '@jest/globals';
import { requireAllEndpoints, implement } from './implement.ts';

const endpoints = allOperations
  .filter((operation) => serviceOf(operation) === 'audit')
  .map((operation) => implement(operation, async () => null));

describe('the endpoints of a service', () => {
  it('are complete when each of its contracts has one', () => {
    expect(endpoints.length).toBeGreaterThan(5);
    expect(requireAllEndpoints('audit', endpoints)).toBe(endpoints);
  });

  it('are refused at start when a contract has none', () => {
    const without = endpoints.filter(({ operation }) => operation.subject !== 'call.audit.deprecated-search-events');
    expect(() => requireAllEndpoints('audit', without)).toThrow(
      'The audit service has no endpoint for deprecated-search-events. Implement it in apps/audit/src/operations.',
    );
  });

  it('are refused at start when a contract has two', () => {
    expect(() => requireAllEndpoints('audit', [...endpoints, ...endpoints.slice(0, 1)])).toThrow(
      'has two endpoints for',
    );
  });
});
