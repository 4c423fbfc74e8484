import { createHash, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import * as nodeFiles from 'node:fs/promises';
import path from 'node:path';

/** The file system, which tests make fail. */
export type Files = Pick<typeof nodeFiles, 'mkdir' | 'open' | 'readdir' | 'rename' | 'stat' | 'unlink' | 'utimes'>;

/** The first line of a file: what it is, and what shows that it is complete. */
interface Header {
  readonly format: string;
  readonly version: number;
  readonly bytes: number;
  readonly sha256: string;
}

/** A file that is left out; its message continues "The file …". */
export class UnusableFileError extends Error {}

const maxHeaderBytes = 4_096;
/** A temporary file that is older was left behind by a process that was killed. */
const abandonedAfterMs = 10 * 60_000;
const newline = 0x0a;

function hashOf(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

/**
 * Files of one format in a folder, each written completely or not at all, whoever is killed and when: into a temporary file that takes the
 * name once it is on the disk. Several processes may share the folder. Other files in it are not touched.
 */
export function checkedFiles(
  folder: string,
  { format, version, maxBytes }: { readonly format: string; readonly version: number; readonly maxBytes: number },
  files: Files = nodeFiles,
) {
  const temporaryOf = (name: string): string => path.join(folder, `.${name}.${randomUUID()}.tmp`);
  const isTemporary = (name: string): boolean => name.startsWith('.') && name.endsWith(`.${format}.tmp`);

  const syncFolder = async (): Promise<void> => {
    const handle = await files.open(folder, constants.O_RDONLY);
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  };

  const parse = (whole: Buffer): unknown => {
    const end = whole.subarray(0, maxHeaderBytes).indexOf(newline);
    const header = end < 0 ? undefined : headerIn(whole.subarray(0, end));
    if (header?.format !== format) throw new UnusableFileError(`is no ${format}`);
    if (header.version > version)
      throw new UnusableFileError(`is of the format ${header.version}, and this edge reads up to ${version}`);
    const content = whole.subarray(end + 1);
    if (content.length !== header.bytes) throw new UnusableFileError(`has ${content.length} of ${header.bytes} bytes`);
    if (hashOf(content) !== header.sha256) throw new UnusableFileError('is corrupt: its checksum differs');
    return JSON.parse(content.toString('utf8'));
  };

  return {
    /** Creates the folder, and removes what killed processes have left. */
    prepare: async (): Promise<void> => {
      await files.mkdir(folder, { recursive: true, mode: 0o700 });
      for (const name of (await files.readdir(folder)).filter(isTemporary)) {
        const file = path.join(folder, name);
        const { mtimeMs } = await files.stat(file).catch(() => ({ mtimeMs: Date.now() }));
        if (Date.now() - mtimeMs > abandonedAfterMs) await files.unlink(file).catch(() => undefined);
      }
    },
    names: async (): Promise<readonly string[]> =>
      (await files.readdir(folder)).filter((name) => !name.startsWith('.') && name.endsWith(`.${format}`)),
    /** @throws UnusableFileError if it is not complete, or another's; an error of the file system if it cannot be read */
    read: async (name: string): Promise<unknown> => {
      // No symbolic link: it may lead to a file of somebody else.
      const handle = await files.open(path.join(folder, name), constants.O_RDONLY | constants.O_NOFOLLOW);
      try {
        const stat = await handle.stat();
        if (!stat.isFile()) throw new UnusableFileError('is no regular file');
        // Kubernetes gives the group of a volume the right to write.
        if ((stat.mode & 0o002) !== 0) throw new UnusableFileError('may be written by every user');
        if (stat.size > maxBytes) throw new UnusableFileError(`is longer than ${maxBytes} bytes`);
        return parse(await handle.readFile());
      } finally {
        await handle.close();
      }
    },
    /** Replaces the file. When it resolves, a power failure does not bring the file before back. */
    write: async (name: string, value: unknown): Promise<void> => {
      const content = Buffer.from(JSON.stringify(value));
      const header: Header = { format, version, bytes: content.length, sha256: hashOf(content) };
      const temporary = temporaryOf(name);
      try {
        const handle = await files.open(temporary, 'wx', 0o600);
        try {
          await handle.writeFile(Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), content]));
          await handle.sync();
        } finally {
          await handle.close();
        }
        await files.rename(temporary, path.join(folder, name));
      } catch (error) {
        await files.unlink(temporary).catch(() => undefined);
        throw error;
      }
      await syncFolder();
    },
    rename: (from: string, to: string): Promise<void> => files.rename(path.join(folder, from), path.join(folder, to)),
    /** Makes a file look as if it were written now. */
    touch: (name: string): Promise<void> => files.utimes(path.join(folder, name), new Date(), new Date()),
    /** Makes a file look abandoned: its process has ended. */
    release: (name: string): Promise<void> => files.utimes(path.join(folder, name), 0, 0),
    modifiedAt: async (name: string): Promise<number> => (await files.stat(path.join(folder, name))).mtimeMs,
    remove: async (name: string): Promise<void> => {
      await files.unlink(path.join(folder, name)).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error;
      });
    },
  };
}
export type CheckedFiles = ReturnType<typeof checkedFiles>;

function headerIn(line: Buffer): Partial<Header> & { readonly version: number; readonly bytes: number } {
  try {
    const { format, version, bytes, sha256 } = JSON.parse(line.toString('utf8')) as Partial<Header>;
    return {
      ...(format === undefined ? {} : { format }),
      ...(sha256 === undefined ? {} : { sha256 }),
      version: Number(version),
      bytes: Number(bytes),
    };
  } catch {
    throw new UnusableFileError('has no header');
  }
}

/** Why a file cannot be used, for the log. */
export function reasonOf(error: unknown): string {
  if (error instanceof UnusableFileError) return error.message;
  if (error instanceof SyntaxError) return 'is no JSON';
  const { code, message } = error as NodeJS.ErrnoException;
  return `cannot be read: ${code ?? message}`;
}
