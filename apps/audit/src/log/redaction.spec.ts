import { describe, expect, it } from 'vitest';
import { withoutSecrets } from './redaction.ts';

const hex = '0123456789abcdef'.repeat(4);
const jwt = `eyJ${'a'.repeat(20)}.${'b'.repeat(30)}.${'c-_'.repeat(10)}`;

describe('The redacted data of an event', () => {
  it.each([
    'secret',
    'Secret',
    'client_secret',
    'apiKey',
    'API-Key',
    'token',
    'password',
    'Authorization',
    'ip',
    'ipAddress',
    'X-Forwarded-For',
  ])('omits the value of the property %s', (name) => {
    expect(withoutSecrets({ user: { [name]: 'hunter2', id: 7 } })).toEqual({ user: { [name]: '[redacted]', id: 7 } });
    expect(withoutSecrets([{ [name]: { deep: ['hunter2'] } }])).toEqual([{ [name]: '[redacted]' }]);
  });

  it.each([
    [`*:*.${hex}`, '[redacted]'],
    [`default:development.${hex.slice(0, 40)}`, '[redacted]'],
    [`my-shop:*.${hex}, and user:${hex}.`, `[redacted], and [redacted].`],
    [`user:${hex}`, '[redacted]'],
    [`curl -H 'Authorization: *:*.${hex}' http://x`, `curl -H 'Authorization: [redacted]' http://x`],
    [`Authorization: Bearer abcdefghijklmnop1234`, 'Authorization: Bearer [redacted]'],
    [`basic YWRtaW46dW5sZWFzaDRhbGw=`, 'basic [redacted]='],
    [`see ${jwt}`, 'see [redacted]'],
    [`http://x/?token=*:*.${hex}&y=1`, 'http://x/?token=[redacted]&y=1'],
    [`-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----`, '[redacted]'],
  ])('omits values that look like a credential: %s', (text, stays) => {
    expect(withoutSecrets({ description: text })).toEqual({ description: stays });
  });

  it('is the identical object when there is nothing to redact', () => {
    const data = {
      id: 'b8c1b1a0-0c3f-4d0e-9f57-0123456789ab',
      tokenName: 'ci',
      secretary: 'mia@example.com',
      description: 'bearer of news, basic rollout; see sha256 0123456789abcdef0123456789abcdef01234567',
      parameters: { IPs: '10.0.0.1,10.0.0.2', rollout: '50', ip: '' },
      constraints: [{ contextName: 'remoteAddress', operator: 'IN', values: ['10.0.0.1'] }],
      nothing: null,
      secret: null,
    };
    expect(withoutSecrets(data)).toBe(data);
    expect(withoutSecrets(null)).toBeNull();
  });

  it('keeps the order of its properties, and texts that only resemble tokens', () => {
    const data = JSON.parse('{"b":"x","__proto__":{"secret":"s"},"a":1}') as unknown;
    expect(JSON.stringify(withoutSecrets(data))).toBe('{"b":"x","__proto__":{"secret":"[redacted]"},"a":1}');
  });

  it('is redacted in linear time', () => {
    // In quadratic time this would not end within the time limit of a test.
    for (const hostile of ['eyJ-', 'a:', 'a.', 'bearer ', '=', hex])
      withoutSecrets({ text: hostile.repeat(1_000_000 / hostile.length) });
  });
});
