import { JsonText, type IdempotentWrite } from '@bunting/bus';
import { type Caller, type Granted, may, maySee, noAccess, notFound, refusal } from '@bunting/contracts';
import type { Database, SchemaMigration, Statement, Tx } from '@bunting/database';
import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto';

/**
 * Answers of writes that carried an `Idempotency-Key`, each stored in the transaction of what it answers for. Whoever works
 * on a key holds a lock on it until the commit. The lookup is a statement of its own after the lock was tried, so it sees
 * what the one who held the lock before has committed.
 */
export const idempotencyTables: SchemaMigration = {
  name: '1-idempotency',
  statements: [
    `create table idempotent_answer (
      scope text not null,
      key text not null,
      operation text not null,
      fingerprint text not null,
      done json,
      answer text,
      said json not null default '{}',
      granted json,
      created_at timestamptz not null default now(),
      primary key (scope, key)
    )`,
    'create index idempotent_answer_by_age on idempotent_answer (created_at)',
    `create function begin_once(
      whose text, given text,
      out is_free boolean, out fingerprint text, out done json, out answer text, out said json, out granted json
    ) language plpgsql as $$
    begin
      is_free := pg_try_advisory_xact_lock(hashtextextended(whose || ' ' || given, 0));
      select stored.fingerprint, stored.done, stored.answer, stored.said, stored.granted
      into fingerprint, done, answer, said, granted
      from idempotent_answer stored where stored.scope = whose and stored.key = given;
    end $$`,
  ],
};

const cipher = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

/** The name that a key is stored under: of the key itself the database knows nothing. */
const nameOf = ({ scope, key }: IdempotentWrite): string => hash('sha256', `name ${scope} ${key}`, 'base64url');

const secretOf = ({ scope, key }: IdempotentWrite): Buffer => hash('sha256', `seal ${scope} ${key}`, 'buffer');

/** An answer may hold a secret that is shown once. Only who has the key of the request can read it again. */
export const encrypt = (once: IdempotentWrite, text: string): string => {
  const iv = randomBytes(ivBytes);
  const sealing = createCipheriv(cipher, secretOf(once), iv);
  const hidden = Buffer.concat([sealing.update(text, 'utf8'), sealing.final()]);
  return Buffer.concat([iv, sealing.getAuthTag(), hidden]).toString('base64');
};

export const decrypt = (once: IdempotentWrite, text: string): string => {
  const bytes = Buffer.from(text, 'base64');
  const opening = createDecipheriv(cipher, secretOf(once), bytes.subarray(0, ivBytes));
  opening.setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
  return Buffer.concat([opening.update(bytes.subarray(ivBytes + tagBytes)), opening.final()]).toString('utf8');
};

/** What came of a write that was done before. */
export interface StoredOutcome {
  /** what the transaction came to, where the reply is made of it after the commit */
  readonly done: unknown;
  /** the reply as it was given; null when nobody got that far */
  readonly answer: string | null;
  readonly said: Readonly<Record<string, string>>;
}

interface Row extends StoredOutcome {
  readonly is_free: boolean;
  readonly fingerprint: string | null;
  /** null where nobody wrote it down yet */
  readonly granted: readonly Granted[] | null;
}

/** Decides again by what was decided by when it was done. */
const requireStillGranted = (caller: Caller, granted: readonly Granted[]): void => {
  for (const one of granted) {
    if ('sees' in one && !maySee(caller, one.sees)) throw notFound(`Could not find project with id ${one.sees}`);
  }
  for (const one of granted) {
    if ('may' in one && !may(caller, one.may, one)) throw noAccess(one.may, one.environment);
  }
};

const known = (once: IdempotentWrite, caller: Caller, row: Row | undefined): StoredOutcome | undefined => {
  if (row === undefined) return undefined;
  if (row.fingerprint === null) {
    if (row.is_free) return undefined;
    throw refusal(
      'ConflictError',
      'A request with this `Idempotency-Key` is being carried out right now. Try again to be given its answer.',
      { retryAfterSeconds: 1 },
    );
  }
  if (row.fingerprint === once.fingerprint) {
    requireStillGranted(caller, row.granted ?? []);
    return { ...row, answer: row.answer === null ? null : decrypt(once, row.answer) };
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
};

/**
 * Begins a write that is to be done once; nobody else does until the end of this transaction.
 * @returns what came of it, when it was done before
 * @throws Refusal `ConflictError` while another does it, `IdempotencyKeyReused` when the key was for something else, and
 * `NotFoundError` or `NoAccessError` when what was granted then is granted no more.
 */
export const claimIdempotencyKey = async (
  { query }: Tx,
  once: IdempotentWrite,
  caller: Caller,
): Promise<StoredOutcome | undefined> => {
  const [row] = await query<Row>('select * from begin_once($1, $2)', [once.scope, nameOf(once)]);
  return known(once, caller, row);
};

const answerOf: Statement = {
  name: 'idempotent-answer',
  text: `select true as is_free, fingerprint, done, answer, said, granted from idempotent_answer where scope = $1 and key = $2`,
};

/** Looks up what came of a write, without a transaction: for what asks others before it begins one. */
export const findStoredOutcome = async (
  database: Database,
  once: IdempotentWrite,
  caller: Caller,
): Promise<StoredOutcome | undefined> => {
  const [row] = await database.read<Row>(answerOf, [once.scope, nameOf(once)]);
  return known(once, caller, row);
};

export const textOfReply = (reply: unknown): string =>
  reply instanceof JsonText ? reply.text : JSON.stringify(reply ?? null);

const insertAnswer = `
  insert into idempotent_answer (scope, key, operation, fingerprint, done, answer, said, granted)
  values ($1, $2, $3, $4, $5, $6, $7, $8)`;

/**
 * Stores, together with what was done, the answer or what the answer will be made of.
 * @param isLocked whether `beginOnce` began this transaction; if not, the key may have been given to something else
 */
export const storeOutcome = async (
  { query }: Pick<Tx, 'query'>,
  once: IdempotentWrite,
  came: Omit<StoredOutcome, 'done'> & { readonly done?: unknown },
  isLocked = true,
): Promise<void> => {
  await query(isLocked ? insertAnswer : `${insertAnswer} on conflict do nothing`, [
    ...[once.scope, nameOf(once), once.operation, once.fingerprint],
    came.done === undefined ? null : JSON.stringify(came.done),
    came.answer === null ? null : encrypt(once, came.answer),
    JSON.stringify(came.said),
    JSON.stringify(once.granted),
  ]);
  if (came.answer !== null) once.stored = came.answer;
};

const complete: Statement = {
  name: 'complete-idempotent-answer',
  text: `update idempotent_answer set answer = coalesce(answer, $3), said = case when answer is null then $4 else said end
         where scope = $1 and key = $2 returning answer, said`,
};

/** Stores an answer that was made after the commit. Who comes second is given the answer of the first. */
export const completeReply = async (
  database: Database,
  once: IdempotentWrite,
  answer: string,
  said: Readonly<Record<string, string>>,
): Promise<Pick<StoredOutcome, 'said'> & { readonly answer: string }> => {
  const values = [once.scope, nameOf(once), encrypt(once, answer), JSON.stringify(said)];
  const [row] = await database.read<{ answer: string; said: Record<string, string> }>(complete, values);
  const kept = row === undefined ? { answer, said } : { answer: decrypt(once, row.answer), said: row.said };
  once.stored = kept.answer;
  return kept;
};

/** Drops answers that are old enough that nobody sends the request again. */
export const dropExpiredReplies = `delete from idempotent_answer where (scope, key) in (
  select scope, key from idempotent_answer where created_at < now() - make_interval(hours => $1)
  order by created_at limit 5000 for update skip locked)`;
