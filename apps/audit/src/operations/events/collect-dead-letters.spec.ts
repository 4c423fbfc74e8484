import { serve } from '@bunting/bus';
import { CollectDeadLetters, VerifyEventLog } from '@bunting/contracts';
import { consumerTables, readDeadLettersEndpoint } from '@bunting/outbox';
import { openDatabase } from '@bunting/database';
import { eventually, freshDatabase, startNats, type TestNats } from '@bunting/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { anEvent } from '../../../test/builders.ts';
import { type StartedAudit, startAudit, startEventProducer, type EventProducer } from '../../../test/started-audit.ts';

let nats: TestNats;
let audit: StartedAudit;
let features: EventProducer;
beforeAll(async () => {
  nats = await startNats();
  audit = await startAudit({ AUDIT_DEAD_LETTER_AFTER_MS: '0', ...nats.settings });
  features = await startEventProducer(audit.bus);
});
afterAll(async () => {
  await features.stop();
  await audit.stop();
  await nats.stop();
});

it('lists events until they can be appended, and reports the log as incomplete until then', async () => {
  const inAudit = (statement: string) => audit.database.transaction(({ query }) => query(statement));
  await inAudit("alter table event_search add constraint no_doom check (project is distinct from 'doom')");
  await features.publish(anEvent({ project: 'before' }));
  await features.publish(anEvent({ project: 'doom', featureName: 'late' }));
  await features.publish(anEvent({ project: 'after' }));
  expect((await audit.search()).events.map(({ project }) => project)).toEqual(['after', 'before']);

  const { deadLetters, unanswered } = await audit.call(CollectDeadLetters);
  const letter = {
    service: 'audit',
    producer: 'features',
    topic: 'event',
    position: 2,
    type: 'feature-created',
    attempts: 1,
    reason: expect.stringContaining('"no_doom"'),
  };
  expect(deadLetters).toEqual([expect.objectContaining(letter)]);
  expect(unanswered.toSorted()).toEqual(['change-requests', 'gateway', 'search']);
  const [{ uid, reason } = { uid: '', reason: '' }] = deadLetters;
  expect(await audit.call(VerifyEventLog)).toMatchObject({
    intact: true,
    complete: false,
    checkedTo: 2,
    deadLetters: [{ service: 'features', position: 2, uid, reason, attempts: 1 }],
  });
  expect(audit.warnings).toContainEqual(
    expect.stringContaining(`audit could not apply event 2 of features (uid ${uid})`),
  );

  await inAudit('alter table event_search drop constraint no_doom');
  const replica = await startAudit(nats.settings, { url: audit.url });
  await eventually(async () => expect((await audit.call(CollectDeadLetters)).deadLetters).toEqual([]));
  expect((await audit.search()).events.map(({ project }) => project)).toEqual(['doom', 'after', 'before']);
  expect(await audit.call(VerifyEventLog)).toMatchObject({ intact: true, complete: true, deadLetters: [] });
  await replica.stop();
});

it('lists the dead letters of the other services that respond', async () => {
  const fresh = await freshDatabase();
  const steps = [consumerTables];
  const database = await openDatabase({ url: fresh.url, name: 'search', migrations: steps });
  await database.transaction(({ query }) =>
    query(
      `insert into dead_letter (producer, topic, position, uid, payload, reason, type, recorded_at, attempts, next_attempt_at)
       values ('features', 'state', 7, gen_random_uuid(), '{}', 'cannot be applied', 'feature', now(), 3, now())`,
    ),
  );
  const served = await serve(audit.bus, [readDeadLettersEndpoint('search', database)], { checkReplies: true });
  expect(await audit.call(CollectDeadLetters)).toMatchObject({
    deadLetters: [{ service: 'search', producer: 'features', topic: 'state', position: 7, attempts: 3 }],
    unanswered: expect.arrayContaining(['change-requests', 'gateway']),
  });
  await served.stop();
  await database.close();
  await fresh.drop();
});
