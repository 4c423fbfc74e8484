import { randomBytes, scrypt, type ScryptOptions, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { unavailable } from '@bunting/contracts';
import { passwordPreviouslyUsed } from '../refusals.ts';

/** Maximum concurrent computations: fewer than the four threads of Node's pool, which file access and DNS lookups use, too. */
const maxRunning = 2;
/** Maximum computations that wait. */
const maxWaiting = 256;

const keyBytes = 32;
const saltBytes = 16;
/** The block size of scrypt. */
const r = 8;
/** The parallelisation of scrypt. */
const p = 3;
/** The binary logarithm of the maximum cost of a stored hash: verifying one of 2^20 needs 1 GiB. */
const maxLogN = 20;

const derive = promisify<string | Buffer, Buffer, number, ScryptOptions, Buffer>(scrypt);

interface Parameters {
  readonly logN: number;
  readonly r: number;
  readonly p: number;
}

function deriveKey(password: string, salt: Buffer, { logN, r: blocks, p: lanes }: Parameters): Promise<Buffer> {
  return derive(password.normalize('NFC'), salt, keyBytes, {
    N: 2 ** logN,
    r: blocks,
    p: lanes,
    maxmem: 2 ** (logN + 11),
  });
}

const scryptHash = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([\w+/]+)\$([\w+/]+)$/;
const bcryptHash = /^\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}$/;

function base64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}

function matchesBcrypt(password: string, hash: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('bcrypt-worker.ts', import.meta.url), { workerData: { password, hash } });
    worker.once('message', (isMatch: boolean) => resolve(isMatch));
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('The worker that verifies bcrypt hashes ended without a result.')));
  });
}

/** Whether a password matches a stored hash, and whether the hash should be replaced by one with the current parameters. */
export interface VerificationResult {
  readonly isMatch: boolean;
  readonly isOutdated: boolean;
}

/**
 * Hashes passwords with scrypt, and verifies these hashes and those of bcrypt, which imported users have. The parameters are stored with each hash,
 * so that the cost can grow. Computations run outside of the event loop, two at a time, those of a lower `rank` first.
 * @param logN binary logarithm of the cost; one computation needs 2^(logN + 10) bytes
 */
export function passwordHasher(logN: number) {
  const currentParameters: Parameters = { logN, r, p };
  /** The salt of the key that is derived for users that do not exist, so that the response takes as long as for others. */
  const decoySalt = randomBytes(saltBytes);
  let runningCount = 0;
  const queue: { readonly rank: number; readonly resume: () => void; readonly refuse: () => void }[] = [];

  /** Waits for a permit. When the queue is full, the newest entry of the highest rank is refused. */
  const acquirePermit = (rank: number): Promise<void> =>
    new Promise((resume, reject) => {
      if (runningCount < maxRunning) {
        runningCount++;
        return resume();
      }
      const refuse = () => reject(unavailable('Too many passwords are being verified. Please try again.', 5));
      const index = queue.findIndex((other) => other.rank > rank);
      queue.splice(index < 0 ? queue.length : index, 0, { rank, resume, refuse });
      if (queue.length > maxWaiting) queue.pop()?.refuse();
    });
  const withPermit = async <T>(rank: number, compute: () => Promise<T>): Promise<T> => {
    await acquirePermit(rank);
    try {
      return await compute();
    } finally {
      // The permit passes on to the next computation.
      const next = queue.shift();
      if (next === undefined) runningCount--;
      else next.resume();
    }
  };

  const verifyHash = async (password: string, hash: string): Promise<VerificationResult> => {
    if (bcryptHash.test(hash)) return { isMatch: await matchesBcrypt(password, hash), isOutdated: true };
    const [, ln, blocks, lanes, salt = '', key = ''] = scryptHash.exec(hash) ?? [];
    const parameters = { logN: Number(ln), r: Number(blocks), p: Number(lanes) };
    if (!(parameters.logN <= maxLogN)) throw new Error('A stored password has a hash of an unknown form.');
    const expected = Buffer.from(key, 'base64');
    const computed = await deriveKey(password, Buffer.from(salt, 'base64'), parameters);
    return {
      isMatch: expected.length === keyBytes && timingSafeEqual(computed, expected),
      isOutdated: parameters.logN < currentParameters.logN || parameters.r !== r || parameters.p < p,
    };
  };

  return {
    hash: (password: string): Promise<string> =>
      withPermit(0, async () => {
        const salt = randomBytes(saltBytes);
        const key = await deriveKey(password, salt, currentParameters);
        return `$scrypt$ln=${currentParameters.logN},r=${r},p=${p}$${base64(salt)}$${base64(key)}`;
      }),
    /**
     * Verifies a password against a stored hash; undefined, for a user without one, matches nothing and takes as long.
     * @param rank how suspicious the request is; lower ranks are served first
     */
    verify: (password: string, hash: string | undefined, rank = 0): Promise<VerificationResult> =>
      withPermit(rank, async () => {
        if (hash !== undefined) return verifyHash(password, hash);
        await deriveKey(password, decoySalt, currentParameters);
        return { isMatch: false, isOutdated: false };
      }),
  };
}
export type PasswordHasher = ReturnType<typeof passwordHasher>;

/**
 * The hash of a new password of a user.
 * @param earlier the hashes of the passwords that may not be reused
 * @throws Refusal `PasswordPreviouslyUsedError`
 */
export async function hashUnlessReused(
  passwords: PasswordHasher,
  password: string,
  earlier: readonly string[],
): Promise<string> {
  for (const hash of earlier) {
    if ((await passwords.verify(password, hash)).isMatch) throw passwordPreviouslyUsed();
  }
  return passwords.hash(password);
}
