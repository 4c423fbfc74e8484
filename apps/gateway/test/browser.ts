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

/** The parts of a browser that a sign-in needs: cookies by host, and redirects. */
export const followingBrowser = () => {
  const jars = new Map<string, Map<string, string>>();
  const jarOf = (url: URL): Map<string, string> => {
    const jar = jars.get(url.host) ?? new Map<string, string>();
    jars.set(url.host, jar);
    return jar;
  };
  /** One request, with the cookies of its host. */
  const visit = async (address: string, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(address);
    const jar = jarOf(url);
    const headers = new Headers(init.headers);
    if (jar.size > 0) headers.set('cookie', [...jar].map(([name, value]) => `${name}=${value}`).join('; '));
    const response = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const cookie of response.headers.getSetCookie()) {
      const [pair = ''] = cookie.split(';');
      const at = pair.indexOf('=');
      if (/max-age=0/i.test(cookie) || pair.slice(at + 1) === '') jar.delete(pair.slice(0, at));
      else jar.set(pair.slice(0, at), pair.slice(at + 1));
    }
    return response;
  };
  return {
    visit,
    cookies: (address: string): ReadonlyMap<string, string> => jarOf(new URL(address)),
    /** Follows redirects until the next URL is one that `isEnd` accepts, or until a response is no redirect. */
    follow: async (address: string, isEnd: (url: string) => boolean = () => false) => {
      let url = address;
      for (let hops = 0; hops < 20; hops++) {
        const response = await visit(url);
        const location = response.headers.get('location');
        if (location === null) return { url, response };
        url = new URL(location, url).href;
        if (isEnd(url)) return { url, response };
      }
      throw new Error(`The redirects from ${address} do not end.`);
    },
  };
};
