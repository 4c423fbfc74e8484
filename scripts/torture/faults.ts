import { setTimeout as sleep } from 'node:timers/promises';
import type { Chance } from './chance.ts';
import type { Moment } from './postgres-wire.ts';
import type { ServiceProcess } from './service-process.ts';
import type { World } from './world.ts';

/** Something that goes wrong. When it resolves, what was taken away is there again, and everything was started that ended. */
export interface Fault {
  readonly name: string;
  /** what it is done to: a service, `servers`, `wires`, or `everything`. What is done to different things can be done at once. */
  readonly to: string;
  /** @returns whether it could be brought about */
  readonly strike: (world: World, chance: Chance) => Promise<boolean>;
}

/** How long a process may take to come to a moment. */
const momentMs = 10_000;
const longestWaitMs = 30_000;

/** Longer than any call is waited for. */
const longFreezeMs = 30_000;

const away = (chance: Chance): number => chance.between(0, 1_500);

const killed =
  (service: string): Fault['strike'] =>
  async (world, chance) => {
    const victim = chance.one(world.of(service));
    await victim.kill();
    await sleep(away(chance));
    await victim.start();
    return true;
  };

/** Kills whichever process of a service first comes to the moment; of some moments only the holder of the relay does. */
const killedAt =
  (service: string, moment: Moment): Fault['strike'] =>
  async (world, chance) => {
    const candidates = world.of(service);
    const traps = candidates.map((one) => one.arm(moment, chance.whole(1, 3)));
    await Promise.race([...traps.map(({ fell }) => fell), sleep(momentMs, undefined, { ref: false })]);
    const fallen = candidates.filter((_, nth) => traps[nth]?.disarm());
    await sleep(away(chance));
    for (const one of fallen) {
      await one.kill();
      await one.start();
    }
    return fallen.length > 0;
  };

/** For a while something is so for one process, whichever. */
const forAWhile =
  (longestMs: number, begin: (one: ServiceProcess) => void, end: (one: ServiceProcess) => void): Fault['strike'] =>
  async (world, chance) => {
    const victim = chance.one(world.processes);
    begin(victim);
    await sleep(chance.between(500, longestMs));
    end(victim);
    return true;
  };

const disturbed: Fault['strike'] = async ({ processes }, chance) => {
  const disturbedSoFar = () => processes.reduce((sum, { deliveries }) => sum + deliveries.count, 0);
  const before = disturbedSoFar();
  for (const { deliveries } of processes) deliveries.disturbed = true;
  await sleep(chance.between(2_000, 5_000));
  // While other things are away there is nothing to deliver.
  for (let waited = 0; disturbedSoFar() === before && waited < longestWaitMs; waited += 250) await sleep(250);
  for (const { deliveries } of processes) deliveries.disturbed = false;
  return disturbedSoFar() > before;
};

/** Sessions become read-only and writable again, some dozen times in a row. */
const readOnlyOnAndOff: Fault['strike'] = async ({ postgres }, chance) => {
  for (let times = chance.whole(5, 30); times > 0; times--) {
    await postgres.readOnly(chance.between(5, 60));
    await sleep(chance.between(5, 200));
  }
  await postgres.readOnly(chance.between(500, 3_000));
  return true;
};

const frozenForLong: Fault['strike'] = async (world, chance) => {
  const victim = chance.one(world.of('features'));
  victim.freeze();
  await sleep(longFreezeMs);
  victim.thaw();
  return true;
};

const powerCut: Fault['strike'] = async ({ processes, nats, postgres }, chance) => {
  const servers = [nats.crash(away(chance)), postgres.crash(away(chance))];
  await Promise.all([...servers, ...processes.map((one) => one.kill())]);
  await Promise.all(processes.map((one) => one.start()));
  return true;
};

const always =
  (job: (world: World, chance: Chance) => Promise<void>): Fault['strike'] =>
  async (world, chance) => {
    await job(world, chance);
    return true;
  };

const services = ['gateway', 'features', 'change-requests', 'audit', 'search'];
const telling = ['features', 'change-requests'];
const following = ['audit', 'search', 'change-requests'];
const momentsOfTelling: readonly Moment[] = [
  'state written, events not',
  'before COMMIT',
  'COMMIT sent, not answered',
  'after COMMIT, before the answer',
  'published, not marked',
];

/** Every kind of fault. */
export const faults: readonly Fault[] = [
  ...services.map((service) => ({ name: `${service} killed -9`, to: service, strike: killed(service) })),
  ...telling.flatMap((service) =>
    momentsOfTelling.map((moment) => ({
      name: `${service} killed -9: ${moment}`,
      to: service,
      strike: killedAt(service, moment),
    })),
  ),
  ...following.map((service) => ({
    name: `${service} killed -9: applied, not acknowledged`,
    to: service,
    strike: killedAt(service, 'applied, not acknowledged'),
  })),
  { name: 'nats-server killed -9', to: 'servers', strike: always(({ nats }, chance) => nats.crash(away(chance))) },
  { name: 'NATS storage deleted', to: 'servers', strike: always(({ nats }, chance) => nats.loseStorage(away(chance))) },
  {
    name: 'NATS storage returned to an older copy',
    to: 'servers',
    strike: always(async ({ nats }, chance) => {
      await nats.copyStorage();
      await sleep(chance.between(2_000, 5_000));
      await nats.returnToCopy(away(chance));
    }),
  },
  { name: 'deliveries doubled and shuffled', to: 'wires', strike: disturbed },
  { name: 'PostgreSQL crashed', to: 'servers', strike: always(({ postgres }, chance) => postgres.crash(away(chance))) },
  { name: 'PostgreSQL read-only, on and off', to: 'servers', strike: readOnlyOnAndOff },
  ...['search', 'change-requests'].map((service) => ({
    name: `the database of ${service} put back to an older copy`,
    to: service,
    strike: always((world: World, chance: Chance) => world.restore(service, chance.between(2_000, 6_000))),
  })),
  { name: 'a features process frozen for 30 s', to: 'features', strike: frozenForLong },
  {
    name: 'a process cut off from NATS',
    to: 'wires',
    strike: forAWhile(
      4_000,
      (one) => one.toNats.cut(),
      (one) => one.toNats.mend(),
    ),
  },
  {
    name: 'a process cut off from PostgreSQL',
    to: 'wires',
    strike: forAWhile(
      4_000,
      (one) => one.toPostgres.cut(),
      (one) => one.toPostgres.mend(),
    ),
  },
  {
    name: 'a process frozen',
    to: 'wires',
    strike: forAWhile(
      4_000,
      (one) => one.freeze(),
      (one) => one.thaw(),
    ),
  },
  { name: 'everything killed -9 at once', to: 'everything', strike: powerCut },
];
