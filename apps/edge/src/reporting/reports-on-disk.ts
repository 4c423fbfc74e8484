import { randomUUID } from 'node:crypto';
import { Refusal } from '@bunting/contracts';
import type { Log } from '@bunting/runtime';
import { checkedFiles, type Files, reasonOf } from '../snapshots/checked-files.ts';
import type { StoredBatch } from './waiting-reports.ts';

const format = 'bunting-reports';
/** The file of a process that has not written it for so long is that of one that has ended. */
const abandonedAfterMs = 2 * 60_000;

export interface ReportsOnDiskOptions {
  readonly folder: string;
  /** the most bytes of a file */
  readonly maxBytes: number;
  /** the file system, for tests */
  readonly files: Files | undefined;
  readonly log: Log;
}

/** The file of this process with the reports that wait, and those that processes have left that have ended. */
export class ReportsOnDisk {
  readonly #folder: string;
  readonly #store: ReturnType<typeof checkedFiles>;
  readonly #log: Log;
  readonly #name = `${randomUUID()}.${format}`;
  /** files of processes that have ended, whose reports are here, and which go once the file of this one has them */
  readonly #adopted = new Set<string>();

  constructor({ folder, maxBytes, files, log }: ReportsOnDiskOptions) {
    this.#folder = folder;
    this.#store = checkedFiles(folder, { format, version: 1, maxBytes }, files);
    this.#log = log;
  }

  /** Replaces what the disk has. @throws Refusal where it cannot be written */
  async write(batches: readonly StoredBatch[]): Promise<void> {
    const covered = [...this.#adopted];
    try {
      await this.#store.prepare();
      if (batches.length === 0) await this.#store.remove(this.#name);
      else await this.#store.write(this.#name, batches);
      for (const file of covered) {
        await this.#store.remove(file);
        this.#adopted.delete(file);
      }
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      throw new Refusal(
        'ServiceUnavailable',
        `${this.#folder} cannot be written (${code ?? message}). Reports wait in memory`,
      );
    }
  }

  /** Shows that this process lives, by the age of its file. @returns whether there is a file */
  async touch(): Promise<boolean> {
    return this.#store.touch(this.#name).then(
      () => true,
      () => false,
    );
  }

  /**
   * Takes over what processes have left that have ended. The rename decides which process gets a file.
   * @param add is called with what each file has, which goes with the next write
   * @throws Refusal where a file cannot be read now: it stays for the next attempt
   */
  async adopt(add: (batches: readonly StoredBatch[]) => void): Promise<void> {
    const names = await this.#store.names().catch(() => []);
    for (const file of names.filter((name) => name !== this.#name && !this.#adopted.has(name))) {
      if (Date.now() - (await this.#store.modifiedAt(file).catch(() => Date.now())) < abandonedAfterMs) continue;
      const mine = `${randomUUID()}.${format}`;
      try {
        await this.#store.rename(file, mine);
        add((await this.#store.read(mine)) as readonly StoredBatch[]);
        this.#adopted.add(mine);
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code === 'ENOENT') continue;
        const why = `The reports ${file} in ${this.#folder}: it ${reasonOf(error)}.`;
        // A link to elsewhere does not become a file.
        if (code !== undefined && code !== 'ELOOP') throw new Refusal('ServiceUnavailable', why);
        await this.#store.rename(mine, `${mine}.unusable`);
        this.#log.warn(`${why} They are left out, and kept as ${mine}.unusable.`);
      }
    }
  }

  /** Leaves the file to the next process, which takes it over without a wait. */
  async release(): Promise<void> {
    await this.#store.release(this.#name).catch(() => undefined);
  }
}
