import { createHash, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import * as nodeFiles from 'node:fs/promises';
import path from 'node:path';
import { OriginFeature } from '../origin-feature.ts';
import { type JsonReader, wholeJson } from '../upstream/json-reader.ts';

/** The file system, which tests make fail. */
export type Files = Pick<typeof nodeFiles, 'mkdir' | 'open' | 'readdir' | 'rename' | 'stat' | 'unlink' | 'utimes'>;

/** The first line of a file: what it is, and what shows that it is complete. */
interface Header {
  readonly format: string;
  readonly version: number;
  readonly bytes: number;
  readonly sha256: string;
  /** what tells without the content whether to replace it */
  readonly about?: About;
}
type About = Readonly<Record<string, string | number>>;

/** A file that is left out; its message continues "The file …". */
export class UnusableFileError extends Error {}
/** One that a newer version of the edge has written, and can use. */
export class NewerFileError extends UnusableFileError {}

const maxHeaderBytes = 64 * 1024;
/** A temporary file that is older was left behind by a process that was killed. */
const abandonedAfterMs = 10 * 60_000;
const newline = 0x0a;
/** What is serialised and written, or read, before requests have their turn. */
const pieceLength = 256 * 1024;

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}
/** The text that `JSON.stringify` would return, in parts: those of arrays and objects down to a depth. */
function* partsOf(value: unknown, depth = 3): Generator<string> {
  if (value instanceof OriginFeature) return yield value.json;
  if (depth === 0 || !(Array.isArray(value) || isPlain(value))) return yield JSON.stringify(value) ?? 'null';
  const isList = Array.isArray(value);
  let before = '';
  yield isList ? '[' : '{';
  for (const [key, member] of isList ? value.entries() : Object.entries(value)) {
    if (!isList && member === undefined) continue;
    yield isList ? before : `${before}${JSON.stringify(key)}:`;
    yield* partsOf(member, depth - 1);
    before = ',';
  }
  yield isList ? ']' : '}';
}
function* piecesOf(value: unknown): Generator<Buffer> {
  let piece = '';
  for (const part of partsOf(value)) {
    piece += part;
    if (piece.length < pieceLength) continue;
    yield Buffer.from(piece);
    piece = '';
  }
  yield Buffer.from(piece);
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

  const headerOf = (start: Buffer) => {
    const end = start.subarray(0, maxHeaderBytes).indexOf(newline);
    const header = end < 0 ? undefined : headerIn(start.subarray(0, end));
    if (header?.format !== format) throw new UnusableFileError(`is no ${format}`);
    if (header.version > version)
      throw new NewerFileError(`is of the format ${header.version}, and this edge reads up to ${version}`);
    return { header, contentAt: end + 1 };
  };
  const requireLength = (length: number, { bytes }: { readonly bytes: number }): void => {
    if (length !== bytes) throw new UnusableFileError(`has ${length} of ${bytes} bytes`);
  };
  /** Reads a file piece by piece: all of it, and what it says, would take too much memory at once. */
  const parse = async (handle: nodeFiles.FileHandle, size: number, reader: JsonReader): Promise<unknown> => {
    const buffer = Buffer.allocUnsafe(pieceLength);
    const hash = createHash('sha256');
    const decoder = new TextDecoder();
    let header: Partial<Header> | undefined;
    let failure: { readonly error: unknown } | undefined;
    const attempt = <T>(job: () => T): T | undefined => {
      try {
        return failure === undefined ? job() : undefined;
      } catch (error) {
        failure = { error };
        return undefined;
      }
    };
    for (let position = 0; position < size;) {
      const { bytesRead } = await handle.read(buffer, 0, pieceLength, position);
      if (bytesRead === 0) break;
      position += bytesRead;
      let piece = buffer.subarray(0, bytesRead);
      if (header === undefined) {
        const start = headerOf(piece);
        requireLength(size - start.contentAt, start.header);
        header = start.header;
        piece = piece.subarray(start.contentAt);
      }
      hash.update(piece);
      attempt(() => reader.feed(decoder.decode(piece, { stream: true })));
    }
    const value = attempt(() => {
      reader.feed(decoder.decode());
      return reader.end();
    });
    if (header === undefined) throw new UnusableFileError(`is no ${format}`);
    if (hash.digest('hex') !== header.sha256) throw new UnusableFileError('is corrupt: its checksum differs');
    if (failure !== undefined) throw failure.error;
    return value;
  };
  const withFile = async <T>(
    name: string,
    use: (handle: nodeFiles.FileHandle, size: number) => Promise<T>,
  ): Promise<T> => {
    // No symbolic link: it may lead to a file of somebody else.
    const handle = await files.open(path.join(folder, name), constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      const stat = await handle.stat();
      if (!stat.isFile()) throw new UnusableFileError('is no regular file');
      // Kubernetes gives the group of a volume the right to write.
      if ((stat.mode & 0o002) !== 0) throw new UnusableFileError('may be written by every user');
      if (stat.size > maxBytes) throw new UnusableFileError(`is longer than ${maxBytes} bytes`);
      return await use(handle, stat.size);
    } finally {
      await handle.close();
    }
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
    read: (name: string, reader: JsonReader = wholeJson()): Promise<unknown> =>
      withFile(name, (handle, size) => parse(handle, size, reader)),
    /**
     * What was written about the content of a file, which is not read.
     * @throws as `read`, except that a content of the right length may be corrupt
     */
    about: (name: string): Promise<About | undefined> =>
      withFile(name, async (handle, size) => {
        const start = Buffer.alloc(maxHeaderBytes);
        const { bytesRead } = await handle.read(start, 0, maxHeaderBytes, 0);
        const { header, contentAt } = headerOf(start.subarray(0, bytesRead));
        requireLength(size - contentAt, header);
        return header.about;
      }),
    /** Replaces the file. When it resolves, a power failure does not bring the file before back. */
    write: async (name: string, value: unknown, about?: About): Promise<void> => {
      const temporary = temporaryOf(name);
      const headerWith = (bytes: number, sha256: string): string =>
        JSON.stringify({ format, version, bytes, sha256, ...(about === undefined ? {} : { about }) } satisfies Header);
      // Before it, blanks: it is known once everything was written, which is nowhere in memory at once.
      const headerLength = Buffer.byteLength(headerWith(maxBytes, 'f'.repeat(64)));
      try {
        const handle = await files.open(temporary, 'wx', 0o600);
        try {
          const hash = createHash('sha256');
          let bytes = 0;
          await handle.writeFile(`${' '.repeat(headerLength)}\n`);
          // Each is written where the one before has ended.
          for (const piece of piecesOf(value)) {
            hash.update(piece);
            bytes += piece.length;
            await handle.writeFile(piece);
          }
          await handle.write(headerWith(bytes, hash.digest('hex')), 0);
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

function headerIn(line: Buffer): Partial<Header> & { readonly version: number; readonly bytes: number } {
  try {
    const { format, version, bytes, sha256, about } = JSON.parse(line.toString('utf8')) as Partial<Header>;
    return {
      ...(format === undefined ? {} : { format }),
      ...(sha256 === undefined ? {} : { sha256 }),
      ...(about === undefined ? {} : { about }),
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
