import { type IdempotentWrite, JsonText } from '@bunting/bus';
import { type Caller, may, maySee, noAccess, type PassedCheck, projectNotFound, refusal } from '@bunting/contracts';
import { type Database, onlyRow, prepared, type ReadDatabase, type SchemaMigration, type Tx } from '@bunting/database';
import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto';

/**
 * Replies of writes that carried an `Idempotency-Key`, each stored in the transaction of the write. `claim_idempotency_key` takes a lock
 * on the key until the commit. It reads the stored reply in a statement after the lock, so it sees the commit of the previous holder.
 */
export const idempotencyTables: SchemaMigration = {
  name: '1-idempotency',
  statements: [
    `create table idempotent_reply (
      scope text not null,
      key text not null,
      operation text not null,
      fingerprint text not null,
      outcome json,
      reply text,
      headers json not null default '{}',
      grants json,
      created_at timestamptz not null default now(),
      primary key (scope, key)
    )`,
    'create index idempotent_reply_by_age on idempotent_reply (created_at)',
    `create function claim_idempotency_key(
      key_scope text, key_name text,
      out is_locked boolean, out fingerprint text, out outcome json, out reply text, out headers json, out grants json
    ) language plpgsql as $$
    begin
      is_locked := pg_try_advisory_xact_lock(hashtextextended(key_scope || ' ' || key_name, 0));
      select stored.fingerprint, stored.outcome, stored.reply, stored.headers, stored.grants
      into fingerprint, outcome, reply, headers, grants
      from idempotent_reply stored where stored.scope = key_scope and stored.key = key_name;
    end $$`,
  ],
};

/** The stored result of a write. */
export interface StoredOutcome {
  /** the result of the transaction, where the reply is built from it after the commit */
  readonly outcome: unknown;
  /** the text of the reply; null while it is not built yet */
  readonly reply: string | null;
  readonly headers: Readonly<Record<string, string>>;
}

interface Row extends StoredOutcome {
  readonly is_locked: boolean;
  readonly fingerprint: string | null;
  /** the checks that the write passed; null where none were recorded */
  readonly grants: readonly PassedCheck[] | null;
}

/** Checks that the caller still passes every check that the write relied on. */
function requireStillPassed(caller: Caller, checks: readonly PassedCheck[]): void {
  for (const check of checks) {
    if ('sees' in check && !maySee(caller, check.sees)) throw projectNotFound(check.sees);
  }
  for (const check of checks) {
    if ('may' in check && !may(caller, check.may, check)) throw noAccess(check.may, check.environment ?? undefined);
  }
}

function outcomeOf(write: IdempotentWrite, caller: Caller, row: Row | undefined): StoredOutcome | undefined {
  if (row === undefined) return undefined;
  if (row.fingerprint === null) {
    if (row.is_locked) return undefined;
    throw refusal(
      'ConflictError',
      'A request with this `Idempotency-Key` is in progress. Try again to get its reply.',
      { retryAfterSeconds: 1 },
    );
  }
  if (row.fingerprint === write.fingerprint) {
    requireStillPassed(caller, row.grants ?? []);
    return { ...row, reply: row.reply === null ? null : decryptWithKey(write, row.reply) };
  }
  throw refusal(
    'IdempotencyKeyReused',
    'The `Idempotency-Key` header was used before with another request. A new request takes a new key.',
    {
      details: [
        { message: 'was used before with another operation, parameters or body', path: '/headers/idempotency-key' },
      ],
    },
  );
}

/**
 * Locks an `Idempotency-Key` until the end of the transaction.
 * @returns the stored outcome of the same write; undefined when it was not executed yet
 * @throws Refusal `ConflictError` while another request with the key is in progress, `IdempotencyKeyReused` when the key belongs to
 * another request, and `NotFoundError` or `NoAccessError` when the caller has lost a permission that the write relied on
 */
export async function claimIdempotencyKey(
  { query }: Tx,
  write: IdempotentWrite,
  caller: Caller,
): Promise<StoredOutcome | undefined> {
  const values = [write.scope, hashedKeyOf(write)];
  return outcomeOf(write, caller, onlyRow(await query<Row>('select * from claim_idempotency_key($1, $2)', values)));
}

const storedReply = prepared(
  `select true as is_locked, fingerprint, outcome, reply, headers, grants from idempotent_reply where scope = $1 and key = $2`,
);

/** The stored outcome of a write, read without a transaction, for writes that call other services before they begin one. */
export async function findStoredOutcome(
  database: ReadDatabase,
  write: IdempotentWrite,
  caller: Caller,
): Promise<StoredOutcome | undefined> {
  const [row] = await database.read<Row>(storedReply, [write.scope, hashedKeyOf(write)]);
  return outcomeOf(write, caller, row);
}

export function textOfReply(reply: unknown): string {
  return reply instanceof JsonText ? reply.text : JSON.stringify(reply ?? null);
}

const insertReply = `
  insert into idempotent_reply (scope, key, operation, fingerprint, outcome, reply, headers, grants)
  values ($1, $2, $3, $4, $5, $6, $7, $8)`;

/** Stores the reply of a write, or the outcome that the reply will be built from, in the transaction that has claimed the key. */
export async function storeOutcome(
  { query }: Pick<Tx, 'query'>,
  write: IdempotentWrite,
  { outcome, reply, headers }: Omit<StoredOutcome, 'outcome'> & { readonly outcome?: unknown },
): Promise<void> {
  await query(insertReply, [
    write.scope,
    hashedKeyOf(write),
    write.operation,
    write.fingerprint,
    outcome === undefined ? null : JSON.stringify(outcome),
    reply === null ? null : encryptWithKey(write, reply),
    JSON.stringify(headers),
    JSON.stringify(write.passedChecks),
  ]);
}

/** A reply that is stored once its write is done: without the `Idempotency-Key`, and readable only by a retry with the key. */
export interface EncryptedReply {
  readonly scope: string;
  /** the hash by which the key is stored */
  readonly hashedKey: string;
  readonly operation: string;
  readonly fingerprint: string;
  readonly passedChecks: readonly PassedCheck[];
  readonly encryptedReply: string;
}

/** Prepares the reply of a write that another process may finish. */
export function encryptReply(write: IdempotentWrite, reply: unknown): EncryptedReply {
  const { scope, operation, fingerprint, passedChecks } = write;
  const encryptedReply = encryptWithKey(write, textOfReply(reply));
  return {
    scope,
    hashedKey: hashedKeyOf(write),
    operation,
    fingerprint,
    passedChecks: [...passedChecks],
    encryptedReply,
  };
}

/** Stores an encrypted reply in the last transaction of its write. A stored reply of another request stays. */
export async function storeEncryptedReply(
  { query }: Pick<Tx, 'query'>,
  { scope, hashedKey, operation, fingerprint, passedChecks, encryptedReply }: EncryptedReply,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  const checks = JSON.stringify(passedChecks);
  const values = [scope, hashedKey, operation, fingerprint, null, encryptedReply, JSON.stringify(headers), checks];
  await query(`${insertReply} on conflict do nothing`, values);
}

const completion =
  prepared(`update idempotent_reply set reply = coalesce(reply, $3), headers = case when reply is null then $4 else headers end
       where scope = $1 and key = $2 returning reply, headers`);

/** Stores a reply that was built after the commit. Of concurrent requests the reply of the first is stored, and all of them get it. */
export async function completeReply(
  database: Database,
  write: IdempotentWrite,
  reply: string,
  headers: Readonly<Record<string, string>>,
): Promise<Pick<StoredOutcome, 'headers'> & { readonly reply: string }> {
  const values = [write.scope, hashedKeyOf(write), encryptWithKey(write, reply), JSON.stringify(headers)];
  const [row] = await database.query<{ reply: string; headers: Record<string, string> }>(completion, values);
  const stored =
    row === undefined ? { reply, headers } : { reply: decryptWithKey(write, row.reply), headers: row.headers };
  write.storedReply = stored.reply;
  return stored;
}

/** SQL: deletes at most 5,000 replies that are older than `$1` hours. */
export const dropExpiredRepliesSql = `delete from idempotent_reply where (scope, key) in (
  select scope, key from idempotent_reply where created_at < now() - make_interval(hours => $1)
  order by created_at limit 5000 for update skip locked)`;

const algorithm = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

/** The hash by which an `Idempotency-Key` is stored: the database never holds the key itself. */
function hashedKeyOf({ scope, key }: IdempotentWrite): string {
  return hash('sha256', `name ${scope} ${key}`, 'base64url');
}

/** The key of the cipher. It cannot be derived from the stored hash. */
function secretOf({ scope, key }: IdempotentWrite): Buffer {
  return hash('sha256', `seal ${scope} ${key}`, 'buffer');
}

/** Encrypts a reply with the `Idempotency-Key`: it may hold a secret that is shown once, and only a retry has the key. */
function encryptWithKey(write: IdempotentWrite, text: string): string {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv(algorithm, secretOf(write), iv);
  const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), ciphertext]).toString('base64');
}

/** @throws Error for a reply that was encrypted with another key */
function decryptWithKey(write: IdempotentWrite, text: string): string {
  const bytes = Buffer.from(text, 'base64');
  const decipher = createDecipheriv(algorithm, secretOf(write), bytes.subarray(0, ivBytes));
  decipher.setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
  return Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()]).toString('utf8');
}
