import { expect, it } from 'vitest';
import { removeForwardedPorts } from '../node-server.ts';

it.each([
  ['203.0.113.7:51234', '203.0.113.7'],
  ['203.0.113.7:51234, 10.0.0.1:80', '203.0.113.7, 10.0.0.1'],
  ['[2001:db8::7]:51234, [2001:db8::8]', '2001:db8::7, 2001:db8::8'],
  ['203.0.113.7, 2001:db8::7', '203.0.113.7, 2001:db8::7'],
  ['unknown:text, 203.0.113.7', 'unknown:text, 203.0.113.7'],
])('the addresses in X-Forwarded-For lose their ports: %s', (sent, expected) => {
  const headers = { 'x-forwarded-for': sent };
  removeForwardedPorts(headers);
  expect(headers['x-forwarded-for']).toBe(expected);
});

it('a request without X-Forwarded-For stays as it is', () => {
  const headers = {};
  removeForwardedPorts(headers);
  expect(headers).toEqual({});
});
