import { expect, it } from 'vitest';
import { sessionCookie } from './browser-session.ts';

const secret = 'a'.repeat(43);

it('the session cookie is Secure and __Host- behind TLS only', () => {
  const behindTls = sessionCookie({ GATEWAY_BEHIND_TLS: true, GATEWAY_SESSION_MAX_HOURS: 2 });
  expect(behindTls.set(secret)).toBe(
    `__Host-bunting-session=${secret}; Max-Age=7200; Path=/; HttpOnly; SameSite=Lax; Secure`,
  );
  expect(behindTls.clear).toBe('__Host-bunting-session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax; Secure');
  const without = sessionCookie({ GATEWAY_BEHIND_TLS: false, GATEWAY_SESSION_MAX_HOURS: 2 });
  expect(without.set(secret)).toBe(`bunting-session=${secret}; Max-Age=7200; Path=/; HttpOnly; SameSite=Lax`);
});

it.each([
  [`bunting-session=${secret}`, secret],
  [`a=b; bunting-session=${secret}; c=d`, secret],
  [`bunting-session=; bunting-session=${secret}`, secret],
  [`__Host-bunting-session=${secret}`, undefined],
  [`xbunting-session=${secret}`, undefined],
  [`bunting-session=${secret}x`, undefined],
  ['bunting-session="quoted"', undefined],
  [`bunting-session=${'%'.repeat(43)}`, undefined],
  ['=;;=;bunting-session', undefined],
  ['', undefined],
  [undefined, undefined],
])('the session id in the Cookie header %j is %j', (header, expected) => {
  const { read } = sessionCookie({ GATEWAY_BEHIND_TLS: false, GATEWAY_SESSION_MAX_HOURS: 2 });
  expect(read(header)).toBe(expected);
});
