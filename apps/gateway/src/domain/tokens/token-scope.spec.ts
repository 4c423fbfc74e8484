import { describe, expect, it } from 'vitest';
import { grantsOfToken, mayCallAdminApi } from '../../access/tokens/token.ts';

describe('a token', () => {
  it('grants ADMIN to an admin token', () => {
    expect(grantsOfToken({ kind: 'admin', projects: ['*'], environment: '*' })).toEqual([{ permission: 'ADMIN' }]);
    expect(mayCallAdminApi('admin')).toBe(true);
  });

  it('grants an SDK token only the SDK permission in its projects and environment', () => {
    expect(grantsOfToken({ kind: 'client', projects: ['*'], environment: 'development' })).toEqual([
      { permission: 'CLIENT', environment: 'development' },
    ]);
    expect(grantsOfToken({ kind: 'frontend', projects: ['a', 'b'], environment: 'production' })).toEqual([
      { permission: 'FRONTEND', project: 'a', environment: 'production' },
      { permission: 'FRONTEND', project: 'b', environment: 'production' },
    ]);
    expect([mayCallAdminApi('client'), mayCallAdminApi('frontend'), mayCallAdminApi('user')]).toEqual([
      false,
      false,
      true,
    ]);
  });
});
