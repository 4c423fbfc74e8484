import { expect, it } from '@jest/globals';
import { contextOfBody, contextOfQuery } from './frontend.ts';

const fields = (context: ReadonlyMap<string, string>) => Object.fromEntries(context);

it('takes every parameter for a field, properties among them, and those with a name of their own win', () => {
  const query = {
    userId: '7',
    country: 'no',
    'properties[plan]': 'pro',
    'properties[userId]': '8',
    'properties[': 'x',
  };
  expect(fields(contextOfQuery(query, 'production'))).toEqual({
    userId: '7',
    country: 'no',
    plan: 'pro',
    'properties[': 'x',
    environment: 'production',
  });
});

it('takes a body in the same way, and what is no text as text', () => {
  const context = { userId: 7, isAdmin: true, gone: null, properties: { plan: 'pro', userId: '8', age: 42 } };
  expect(fields(contextOfBody({ context }, 'production', undefined))).toEqual({
    userId: '7',
    isAdmin: 'true',
    plan: 'pro',
    age: '42',
    environment: 'production',
  });
  expect(fields(contextOfBody({}, 'production', undefined))).toEqual({ environment: 'production' });
});

it('knows the address of whoever asks, unless it is told of a better one', () => {
  const address = (query: object) => contextOfQuery(query, 'production').get('remoteAddress');
  expect(address({ callerAddress: '10.0.0.7' })).toBe('10.0.0.7');
  expect(address({ callerAddress: '::ffff:10.0.0.7' })).toBe('10.0.0.7');
  expect(address({ callerAddress: '2001:db8::7' })).toBe('2001:db8::7');
  expect(address({ callerAddress: '10.0.0.7', remoteAddress: '10.0.0.8' })).toBe('10.0.0.8');
  expect(address({})).toBeUndefined();
});

it('lets nobody say which environment it is', () => {
  expect(contextOfQuery({ environment: 'test' }, 'production').get('environment')).toBe('production');
  const context = { environment: 'test', properties: { environment: 'test' } };
  expect(contextOfBody({ context }, 'production', undefined).get('environment')).toBe('production');
});
