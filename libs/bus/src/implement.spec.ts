import { allOperations, type AnyOperation, serviceOf } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { implement, JsonText, type OperationRequest, reads, requireAllEndpoints, writes } from './implement.ts';

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
      'The audit service has no endpoint for deprecated-search-events. Implement it in apps/audit/src.',
    );
  });

  it('are refused at start when a contract has two', () => {
    expect(() => requireAllEndpoints('audit', [...endpoints, ...endpoints.slice(0, 1)])).toThrow(
      'has two endpoints for',
    );
  });
});

describe('an endpoint', () => {
  const headers: Record<string, string> = {};
  const request = {
    setHeader: (name: string, value: string) => void (headers[name] = value),
  } as unknown as OperationRequest<AnyOperation>;
  const [operation] = allOperations as readonly [AnyOperation];

  it('that reads replies with the JSON of a store as it is, and with its entity tag', async () => {
    const plain = await reads(operation, async () => '{ "a": 1 }').handle(request);
    expect([plain, headers]).toEqual([new JsonText('{ "a": 1 }'), {}]);
    const tagged = await reads(operation, async () => ({ json: '{}', tag: '7' })).handle(request);
    expect([tagged, headers]).toEqual([new JsonText('{}'), { ETag: '"7"' }]);
  });

  it('that writes runs in one transaction and replies with its result', async () => {
    const endpoint = writes(
      operation,
      (_request, job: (tx: { readonly id: number }) => Promise<unknown>) => job({ id: 3 }),
      async ({ id }) => ({ id }),
    );
    expect(await endpoint.handle(request)).toEqual({ id: 3 });
  });
});
