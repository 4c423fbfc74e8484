import { afterAll, beforeAll, expect, it } from 'vitest';
import { AddStrategy } from '@bunting/contracts';
import { startNats, type TestNats } from '@bunting/testing';
import { aFeature } from './builders.ts';
import { mia, type StartedFeatures, startFeatures } from './started-features.ts';

let nats: TestNats;
let replicas: StartedFeatures[];
beforeAll(async () => {
  nats = await startNats();
  const first = await startFeatures(nats.settings);
  replicas = [first, await startFeatures({ ...nats.settings, FEATURES_DATABASE_URL: first.url })];
});
afterAll(async () => {
  for (const replica of replicas) await replica.stop();
  await nats.stop();
});

it('executes a write exactly once that several replicas receive concurrently with one Idempotency-Key', async () => {
  const names = Array.from({ length: 100 }, (_, nth) => `once-${nth}`);
  const [first] = replicas as [StartedFeatures];
  await first.given(...names.map((name) => aFeature({ name, project: 'default' })));
  const send = (replica: StartedFeatures, featureName: string) =>
    replica.call(
      AddStrategy,
      {
        params: { projectId: 'default', featureName, environment: 'development' },
        body: { name: 'flexibleRollout' },
      },
      mia,
      { idempotencyKey: featureName },
    );
  for (const name of names) {
    const sent = await Promise.allSettled(replicas.flatMap((replica) => [send(replica, name), send(replica, name)]));
    const reply = await send(first, name);
    for (const one of sent) {
      if (one.status === 'fulfilled') expect(one.value).toEqual(reply);
      else expect(one.reason).toMatchObject({ kind: 'ConflictError', retryAfterSeconds: 1 });
    }
    const { environments } = await first.get(name);
    expect(environments?.[0]?.strategies?.map(({ id }) => id)).toEqual([reply.id]);
  }
});
