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

/** JSON lines on standard output. Secrets and payloads stay out: nobody hands them over, and what looks like one is struck out. */
export const openLog = (level: string, destination?: { write(line: string): void }): Logger =>
  pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: secretPaths, censor: '[secret]' },
    },
    destination ?? pino.destination({ dest: 1, sync: true }),
  );
