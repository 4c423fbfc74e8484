import { Refusal } from '@bunting/contracts';
import { activeTraceIds } from '@bunting/tracing';
import { pino, type Logger } from 'pino';

export type { Logger };
/** What background work logs to: warnings about faults that end by themselves, and errors that an operator has to act on. */
export type Log = Pick<Logger, 'warn' | 'error'>;

const secretPaths = [
  'authorization',
  'token',
  'secret',
  'password',
  '*.authorization',
  '*.token',
  '*.secret',
  '*.password',
];

interface LoggedError {
  readonly type: string;
  readonly message: string;
  readonly stack: string;
  readonly code?: string;
  readonly constraint?: string;
  readonly cause?: LoggedError;
}

/** Whether PostgreSQL rejected a value (SQLSTATE class 22): its message quotes the value after a colon. */
function isAboutValue(code: unknown): boolean {
  return typeof code === 'string' && code.startsWith('22');
}

/** An error as it is logged: type, message, stack and cause. Other properties are left out: PostgreSQL's errors hold the rejected row. */
function loggedError(thrown: unknown, depth = 0): LoggedError {
  const { name, message, stack, code, constraint, cause } = (thrown ?? {}) as Partial<LoggedError> & { name?: string };
  const text = typeof message === 'string' ? message : String(thrown);
  const frames = (typeof stack === 'string' ? stack : '').split('\n').filter((line) => /^ {4}at /.test(line));
  return {
    type: typeof name === 'string' ? name : typeof thrown,
    message: isAboutValue(code) ? (text.split(':', 1)[0] as string) : text,
    stack: frames.join('\n'),
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof constraint === 'string' ? { constraint } : {}),
    ...(cause === undefined || depth === 3 ? {} : { cause: loggedError(cause, depth + 1) }),
  };
}

/** A log of JSON lines on standard output, with the ids of the active span. Callers must not log secrets or payloads; fields named like secrets are redacted as well. */
export function openLog(level: string, destination?: { write(line: string): void }): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      mixin: () => activeTraceIds() ?? {},
      serializers: { err: (error: unknown) => loggedError(error) },
      redact: { paths: secretPaths, censor: '[secret]' },
    },
    destination ?? pino.destination({ dest: 1, sync: true }),
  );
}

/**
 * Logs that background work failed: after a refusal, such as during an outage, as a warning with its message, and after a defect as an error
 * with its stack.
 * @param failure what failed and what follows, without a full stop
 */
export function logFailure(log: Log, failure: string, error: unknown): void {
  if (error instanceof Refusal) log.warn(`${failure}: ${error.message}`);
  else log.error({ err: error }, `${failure}: an unexpected error.`);
}
