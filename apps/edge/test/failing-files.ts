import * as nodeFiles from 'node:fs/promises';
import type { Files } from '../src/snapshots/checked-files.ts';

/** The file system, which fails from its `failing`th operation on; Infinity: it works. */
export function failingFiles(code: string) {
  const state = { failing: Number.POSITIVE_INFINITY, operations: 0 };
  const step = (): void => {
    state.operations++;
    if (state.operations >= state.failing) throw Object.assign(new Error(code), { code });
  };
  const files = {
    ...nodeFiles,
    open: async (...parameters: Parameters<typeof nodeFiles.open>) => {
      step();
      const handle = await nodeFiles.open(...parameters);
      return new Proxy(handle, {
        get: (target, name) => {
          const member: unknown = Reflect.get(target, name, target);
          if (typeof member !== 'function') return member;
          return async (...args: unknown[]) => {
            if (name === 'close') return target.close();
            step();
            return (member as (...all: unknown[]) => unknown).apply(target, args);
          };
        },
      });
    },
    rename: async (from: string, to: string) => (step(), nodeFiles.rename(from, to)),
    mkdir: async (...parameters: Parameters<typeof nodeFiles.mkdir>) => (step(), nodeFiles.mkdir(...parameters)),
    // A process that was killed cleans nothing up.
    unlink: async (file: string) => (step(), nodeFiles.unlink(file)),
  } as unknown as Files;
  return { files, state };
}
