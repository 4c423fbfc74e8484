import { expect } from 'vitest';
import type { StartedGateway } from './started-gateway.ts';

export interface BrowserResponse<T> {
  readonly status: number;
  readonly body: T;
  readonly headers: Headers;
}

/**
 * A browser on a page of the gateway: it stores the cookies of responses, and sends the headers that browsers add.
 * @param address its apparent IP address; the gateway must trust 127.0.0.1 as a proxy
 */
export const aBrowser = (gateway: () => Pick<StartedGateway, 'send' | 'url'>, address?: string) => {
  const cookies = new Map<string, string>();
  const store = (headers: Headers): void => {
    for (const line of headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split('; ');
      const [name = '', value = ''] = pair.split('=');
      if (attributes.includes('Max-Age=0')) cookies.delete(name);
      else cookies.set(name, value);
    }
  };
  const cookie = () => [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const send = async <T = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<BrowserResponse<T>> => {
    const response = await gateway().send(path, {
      method,
      key: null,
      headers: {
        'user-agent': 'Test browser',
        'sec-fetch-site': 'same-origin',
        ...(cookies.size === 0 ? {} : { cookie: cookie() }),
        ...(address === undefined ? {} : { 'x-forwarded-for': address }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    store(response.headers);
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    return {
      status: response.status,
      body: (isJson && text !== '' ? JSON.parse(text) : text) as T,
      headers: response.headers,
    };
  };
  return {
    send,
    cookie,
    /** Signs in with a password. */
    signIn: async (username: string, password: string): Promise<void> => {
      const { status, body } = await send('POST', '/auth/simple/login', { username, password });
      expect({ status, body }).toMatchObject({ status: 200 });
    },
  };
};
export type Browser = ReturnType<typeof aBrowser>;
