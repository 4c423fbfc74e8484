import { expect } from 'vitest';
import type { ErrorBody } from '@bunting/contracts';

const members = ['id', 'name', 'message', 'details', 'permissions'];
/** How to sign in, which the 401 of a missing or invalid token adds. */
const signInMembers = ['path', 'type', 'defaultHidden', 'options'];

/** The body of a refusal. Expects the members that every error has. */
export const refusalOf = async (response: Response): Promise<ErrorBody> => {
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  return refusalIn(await response.text());
};

export const refusalIn = (text: string): ErrorBody => {
  const body = JSON.parse(text) as ErrorBody;
  expect(body.id).toMatch(/^[0-9a-f-]{36}$/);
  expect(typeof body.name).toBe('string');
  expect(typeof body.message).toBe('string');
  const allowed = body.name === 'AuthenticationRequired' ? [...members, ...signInMembers] : members;
  expect(Object.keys(body).filter((key) => !allowed.includes(key))).toEqual([]);
  expect(text).not.toMatch(/<html|\.ts:\d|node_modules|select /i);
  return body;
};
