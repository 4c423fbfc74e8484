import { pino, type Logger } from 'pino';

export type { Logger };

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

/** Failures of PostgreSQL over a value: it quotes the value, after a colon. */
const isAboutValue = (code: unknown): boolean => typeof code === 'string' && code.startsWith('22');

/**
 * An error as the log has it: what it is, where it came from, and what caused it. Nothing else that hangs on it: PostgreSQL,
 * for one, adds the row that it would not take.
 */
const loggedError = (thrown: unknown, depth = 0): LoggedError => {
  const { name, message, stack, code, constraint, cause } = (thrown ?? {}) as Partial<LoggedError> & { name?: string };
  const said = typeof message === 'string' ? message : String(thrown);
  const frames = (typeof stack === 'string' ? stack : '').split('\n').filter((line) => /^ {4}at /.test(line));
  return {
    type: typeof name === 'string' ? name : typeof thrown,
    message: isAboutValue(code) ? (said.split(':', 1)[0] as string) : said,
    stack: frames.join('\n'),
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof constraint === 'string' ? { constraint } : {}),
    ...(cause === undefined || depth === 3 ? {} : { cause: loggedError(cause, depth + 1) }),
  };
};

/** JSON lines on standard output. Secrets and payloads stay out: nobody hands them over, and what looks like one is struck out. */
export const openLog = (level: string, destination?: { write(line: string): void }): Logger =>
  pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: (error: unknown) => loggedError(error) },
      redact: { paths: secretPaths, censor: '[secret]' },
    },
    destination ?? pino.destination({ dest: 1, sync: true }),
  );
