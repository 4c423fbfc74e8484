import { invalid, Refusal, unavailable } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { codeOf, isDataError, outageOf, refusalForFailure } from './failures.ts';

/** An error as the driver throws it for what PostgreSQL reports. */
const reported = (code: string, message = 'reported'): Error => Object.assign(new Error(message), { code });

const outages: readonly (readonly [string, Error, RegExp])[] = [
  ['read-only', reported('25006', 'cannot execute INSERT in a read-only transaction'), /is read-only/],
  ['disk full', reported('53100', 'could not extend file: No space left on device'), /no room left on its disk/],
  ['disk full while it writes', reported('58030', 'could not write: No space left on device'), /no room left/],
  ['out of memory', reported('53200'), /lacks the memory/],
  ['too many connections', reported('53300'), /accepts no more connections/],
  ['an input or output error', reported('58030'), /internal error/],
  ['corrupted data', reported('XX001'), /internal error/],
  ['a lock timeout', reported('55P03'), /waited too long for a lock/],
  ['a transaction left idle', reported('25P03'), /transaction took too long/],
  ['a serialization failure', reported('40001'), /Concurrent writes conflicted/],
  ['a deadlock', reported('40P01'), /Concurrent writes conflicted/],
  ['a revoked right', reported('42501'), /denies the service access/],
  ['a changed password', reported('28P01'), /denies the service access/],
  ['a statement timeout', reported('57014', 'canceling statement due to statement timeout'), /took too long for this/],
  ['a cancellation', reported('57014', 'canceling statement due to user request'), /canceled the request/],
  ['a shutdown', reported('57P01'), /cannot be reached/],
  ['a lost connection', reported('08006'), /cannot be reached/],
  ['a refused connection', reported('ECONNREFUSED'), /cannot be reached/],
  ['a name that is not resolved', reported('EAI_AGAIN'), /cannot be reached/],
  ['a connection that ended', new Error('Connection terminated unexpectedly'), /cannot be reached/],
  [
    'a slow server',
    new Error('Connection terminated due to connection timeout'),
    /did not accept a connection in time/,
  ],
  ['an exhausted pool', new Error('timeout exceeded when trying to connect'), /No connection .* was free in time/],
];

const dataFailures: readonly (readonly [string, Error])[] = [
  ['a value out of range', reported('22003')],
  ['a text that quotes what a driver says', reported('22P02', 'invalid input: "Connection terminated"')],
  ['a broken constraint', reported('23514')],
  ['a text that is too long for an index', reported('54000')],
  ['a schema that is not met', invalid('The `/payload` property must be object.')],
  ['an exception of our own code', new TypeError("Cannot read properties of null (reading 'id')")],
  ['an argument that Node refuses', Object.assign(new TypeError('no'), { code: 'ERR_INVALID_ARG_TYPE' })],
];

describe('A failure of the database', () => {
  it.each(outages)('is a 503 with its reason, and never a dead letter: %s', (_what, error, said) => {
    const wrapped = new Error('while the flag was stored', { cause: error });
    for (const thrown of 'code' in error ? [error, wrapped] : [error]) {
      const refused = refusalForFailure(thrown) as Refusal;
      expect(refused).toBeInstanceOf(Refusal);
      expect([refused.kind, refused.retryAfterSeconds]).toEqual(['ServiceUnavailable', 1]);
      expect(refused.message).toMatch(said);
      expect([isDataError(thrown), isDataError(refused)]).toEqual([false, false]);
    }
  });

  it('does not include errors of the data', () => {
    for (const [what, error] of dataFailures)
      expect([what, refusalForFailure(error) === error, isDataError(error)]).toEqual([what, true, true]);
  });

  it('is judged by the code of the error itself, and by that of a cause only where the error has none', () => {
    const reset = reported('ECONNRESET', 'read ECONNRESET');
    const duplicate = Object.assign(new Error('duplicate key', { cause: reset }), { code: '23505' });
    const wrapped = new Error('while the flag was stored', { cause: duplicate });
    for (const error of [duplicate, wrapped]) expect([codeOf(error), isDataError(error)]).toEqual(['23505', true]);
    expect(codeOf(new Error('while the flag was stored', { cause: reset }))).toBe('ECONNRESET');
  });

  it('has the words of PostgreSQL as its reason, also where the ORM has replaced them', () => {
    const timeout = reported('57014', 'canceling statement due to statement timeout');
    const ofOrm = Object.assign(new Error('select * from flag', { cause: timeout }), { code: '57014' });
    expect(outageOf(ofOrm)).toEqual({
      kind: 'statement timeout',
      reason: 'canceling statement due to statement timeout (57014)',
    });
  });

  it('includes defects of the schema and unknown errors', () => {
    for (const code of ['42P01', '42703', '0A000', 'F0000']) {
      const error = reported(code);
      expect([refusalForFailure(error), isDataError(error)]).toEqual([error, false]);
    }
    expect(isDataError(unavailable('The message bus is disconnected.'))).toBe(false);
  });
});
