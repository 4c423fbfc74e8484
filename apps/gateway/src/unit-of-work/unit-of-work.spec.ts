import { hash } from 'node:crypto';
import { JsonText } from '@bunting/bus';
import { systemCaller } from '@bunting/contracts';
import { openDatabase, type Tx } from '@bunting/database';
import { missingMigrationStatements } from '@bunting/database/entities';
import type { Outbox, OutboxProducer } from '@bunting/outbox';
import { freshDatabase } from '@bunting/testing';
import { expect, it } from 'vitest';
import { gatewayMigrations } from '../migrations/index.ts';
import { gatewayEntities } from './entities.ts';
import { derivedSecretBytesGenerator, newPatSecret } from './secrets.ts';
import { type GatewayWriteContext, unitOfWork } from './unit-of-work.ts';

const hasher = (secret: string) => ({ selector: secret, hash: hash('sha256', secret, 'buffer') });
const idempotency = { operation: 'create-own-pat', scope: 'user 7', key: 'k-1', fingerprint: 'f', passedChecks: [] };
const request: GatewayWriteContext = {
  caller: systemCaller,
  now: new Date('2026-05-01T12:00:00.000Z'),
  traceparent: '',
  deadline: new Date('2026-05-01T12:00:05.000Z'),
  idempotency,
  ifMatchTarget: undefined,
  requireIfMatch: undefined,
  setHeader: () => undefined,
  headers: {},
};

it('a retry whose own attempt is rolled back gets the secret of the reply that is stored', async () => {
  const stored = newPatSecret(derivedSecretBytesGenerator(hasher, idempotency));
  // The first attempt runs the job and is rolled back; the second finds the reply of a concurrent retry.
  const work = async <T>(_: GatewayWriteContext, job: (tx: Tx, outbox: Outbox) => Promise<T>) => {
    await job({} as Tx, {} as Outbox);
    return new JsonText(JSON.stringify({ id: 3, secret: stored.masked }));
  };
  const producer = { work, replay: () => Promise.resolve(undefined) } as unknown as OutboxProducer;
  const transaction = unitOfWork(producer, {
    hasher,
    cipher: undefined,
    sessionLimits: { idleHours: 1, maxHours: 1 },
  });
  const reply = await transaction.revealingSecret(request, async () => ({
    reply: { id: 2, secret: 'user:lost...' },
    secret: 'user:lost-secret',
  }));
  expect(reply).toEqual({ id: 3, secret: stored.secret });
});

it('the migrated schema equals that of the entities', async () => {
  const { url, drop } = await freshDatabase('schema');
  await (await openDatabase({ url, name: 'spec', migrations: gatewayMigrations })).close();
  const tablesOfSqlAlone = [
    'gateway_secret',
    'gateway_setting',
    'slack_account',
    'slack_link',
    'invited_user',
    'invite_group',
    'invite_project',
    'project',
  ];
  expect(await missingMigrationStatements(url, gatewayEntities, tablesOfSqlAlone)).toEqual([]);
  await drop();
});
