import { expect, it } from 'vitest';
import { contextFieldsOfBody, contextFieldsOfQuery } from './frontend-api.ts';

const fields = (context: ReadonlyMap<string, string>) => Object.fromEntries(context);

it('reads every query parameter as a context field, and lets top-level fields win over properties', () => {
  const query = {
    userId: '7',
    country: 'no',
    'properties[plan]': 'pro',
    'properties[userId]': '8',
    'properties[': 'x',
  };
  expect(fields(contextFieldsOfQuery(query, 'production'))).toEqual({
    userId: '7',
    country: 'no',
    plan: 'pro',
    'properties[': 'x',
    environment: 'production',
  });
});

it('reads the context of a body in the same way, and numbers and booleans as text', () => {
  const context = { userId: 7, isAdmin: true, gone: null, properties: { plan: 'pro', userId: '8', age: 42 } };
  expect(fields(contextFieldsOfBody({ context }, 'production', undefined))).toEqual({
    userId: '7',
    isAdmin: 'true',
    plan: 'pro',
    age: '42',
    environment: 'production',
  });
  expect(fields(contextFieldsOfBody({}, 'production', undefined))).toEqual({ environment: 'production' });
});

it('uses the address of the connection unless the context names another one', () => {
  const address = (query: object) => contextFieldsOfQuery(query, 'production').get('remoteAddress');
  expect(address({ callerAddress: '10.0.0.7' })).toBe('10.0.0.7');
  expect(address({ callerAddress: '::ffff:10.0.0.7' })).toBe('10.0.0.7');
  expect(address({ callerAddress: '2001:db8::7' })).toBe('2001:db8::7');
  expect(address({ callerAddress: '10.0.0.7', remoteAddress: '10.0.0.8' })).toBe('10.0.0.8');
  expect(address({})).toBeUndefined();
});

it('ignores an environment in the context: the token decides', () => {
  expect(contextFieldsOfQuery({ environment: 'test' }, 'production').get('environment')).toBe('production');
  const context = { environment: 'test', properties: { environment: 'test' } };
  expect(contextFieldsOfBody({ context }, 'production', undefined).get('environment')).toBe('production');
});
