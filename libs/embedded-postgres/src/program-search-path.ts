/** `PATH` of this process, followed by the usual folders of programs. */
export const programSearchPath = (): string =>
  [process.env['PATH'], '/usr/local/sbin', '/usr/sbin', '/sbin', '/usr/bin', '/bin'].filter(Boolean).join(':');
