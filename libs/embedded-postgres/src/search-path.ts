/** The folders of the program search path. */
export const searchPath = (): string =>
  [process.env['PATH'], '/usr/local/sbin', '/usr/sbin', '/sbin', '/usr/bin', '/bin'].filter(Boolean).join(':');
