import type { ApiToken, CreatedPat, CreatedUser, Event, Events, User } from '@bunting/contracts';
import { expect } from 'vitest';
import { type Api, apiOf } from './api.ts';
import type { Platform } from './platform.ts';

/** A user with a key, who sends requests. */
export interface TestUser {
  readonly id: number;
  readonly key: string;
  readonly api: Api;
}

export const rootRole = { admin: 1, editor: 2, viewer: 3 } as const;
export const projectRole = { owner: 4, member: 5, reader: 6 } as const;

/** The set-up that administrators do over HTTP; each function fails if a response is not a success. */
export const adminClient = (platform: () => Platform) => {
  /** Sends a request of the Admin API, and expects a success. @returns the body of the response */
  const expectSuccess = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const { status, text, body: responseBody } = await platform().api<T>(method, `/api/admin/${path}`, body);
    expect({ ok: status < 300, status, text }).toEqual({ ok: true, status, text });
    return responseBody;
  };
  const keyOf = async (url: string): Promise<string> =>
    (await expectSuccess<CreatedPat>('POST', `${url}/token`, { description: 'first key' })).secret;
  return {
    expectSuccess,

    /** Creates a user, and the first key of that user. */
    createUser: async (username: string, role: number = rootRole.viewer): Promise<TestUser> => {
      const { id } = await expectSuccess<CreatedUser>('POST', 'user-admin', { username, rootRole: role });
      const key = await keyOf(`user-admin/${id}`);
      return { id, key, api: apiOf(platform().url, key) };
    },

    createServiceAccount: async (username: string, role: number = rootRole.viewer): Promise<TestUser> => {
      const { id } = await expectSuccess<User>('POST', 'service-account', { username, rootRole: role });
      const key = await keyOf(`service-account/${id}`);
      return { id, key, api: apiOf(platform().url, key) };
    },

    apiToken: (tokenName: string, more: object = {}): Promise<ApiToken> =>
      expectSuccess<ApiToken>('POST', 'api-tokens', { tokenName, type: 'client', environment: 'development', ...more }),

    /** The events of these types that contain the text, oldest first. */
    eventsAbout: async (query: string, ...types: string[]): Promise<Event[]> => {
      const { events } = await expectSuccess<Events>('POST', 'events/search', { query, limit: 100 });
      return events.filter(({ type }) => types.length === 0 || types.includes(type)).toReversed();
    },
  };
};
