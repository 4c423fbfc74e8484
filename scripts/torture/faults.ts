import { setTimeout as sleep } from 'node:timers/promises';
import { consumersOf, type Producer, type ServiceName, serviceNames } from '@bunting/contracts';
import type { Cluster } from './cluster.ts';
import type { KillPoint } from './proxies.ts';
import type { SeededRandom } from './seeded-random.ts';
import type { ServiceProcess } from './service-process.ts';

/** The services that emit events. */
export const producers = Object.keys(consumersOf) as Producer[];

/** The services that apply messages of other services to their own tables. */
export const consumers: readonly ServiceName[] = [
  ...new Set(Object.values(consumersOf).flatMap(({ event, state }) => [...event, ...state])),
];

/** A fault to inject. */
export interface Fault {
  readonly name: string;
  /** the target: a service, `servers`, `network` or `everything`; faults of different targets may be injected concurrently */
  readonly target: string;
  /**
   * Injects the fault and undoes it: when it resolves, every process and server is running again.
   * @returns whether the fault took effect
   */
  readonly inject: (cluster: Cluster, random: SeededRandom) => Promise<boolean>;
}

/** The maximum time in which a process must reach a kill point. */
const killPointTimeoutMs = 10_000;
/** The maximum time to wait for a wake-up while wake-ups are disturbed. */
const maxWakeUpWaitMs = 30_000;

/** Longer than the timeout of any call. */
const longPauseMs = 30_000;

/** How long a process or server stays down after a crash. */
function outageMs(random: SeededRandom): number {
  return random.fractional(0, 1_500);
}

function killReplica(service: ServiceName): Fault['inject'] {
  return async (cluster, random) => {
    const victim = random.pick(cluster.processesOf(service));
    await victim.kill();
    await sleep(outageMs(random));
    await victim.start();
    return true;
  };
}

/** Kills the first process of a service that reaches the kill point; only the process with the relay reaches some of them. */
function killAtPoint(service: ServiceName, killPoint: KillPoint): Fault['inject'] {
  return async (cluster, random) => {
    const candidates = cluster.processesOf(service);
    const kills = candidates.map((one) => one.killAt(killPoint, random.integer(1, 3)));
    await Promise.race([...kills.map(({ killed }) => killed), sleep(killPointTimeoutMs, undefined, { ref: false })]);
    const victims = candidates.filter((_, nth) => kills[nth]?.disarm());
    await sleep(outageMs(random));
    for (const one of victims) {
      await one.kill();
      await one.start();
    }
    return victims.length > 0;
  };
}

/** Begins a fault of a random process, and ends it after at most `maxMs`. */
function temporaryFault(
  maxMs: number,
  begin: (one: ServiceProcess) => void,
  end: (one: ServiceProcess) => void,
): Fault['inject'] {
  return async (cluster, random) => {
    const victim = random.pick(cluster.processes);
    begin(victim);
    await sleep(random.fractional(500, maxMs));
    end(victim);
    return true;
  };
}

const disturbWakeUps: Fault['inject'] = async ({ processes }, random) => {
  const countDisturbed = () => processes.reduce((sum, { wakeUpDisturbance }) => sum + wakeUpDisturbance.count, 0);
  const before = countDisturbed();
  for (const { wakeUpDisturbance } of processes) wakeUpDisturbance.isActive = true;
  await sleep(random.fractional(2_000, 5_000));
  // While other faults are active there may be no wake-ups.
  for (let waited = 0; countDisturbed() === before && waited < maxWakeUpWaitMs; waited += 250) await sleep(250);
  for (const { wakeUpDisturbance } of processes) wakeUpDisturbance.isActive = false;
  return countDisturbed() > before;
};

/** Toggles sessions between read-only and writable, dozens of times for milliseconds and then once for seconds. */
const toggleReadOnly: Fault['inject'] = async ({ postgres }, random) => {
  for (let times = random.integer(5, 30); times > 0; times--) {
    await postgres.readOnly(random.fractional(5, 60));
    await sleep(random.fractional(5, 200));
  }
  await postgres.readOnly(random.fractional(500, 3_000));
  return true;
};

const pauseForLong: Fault['inject'] = async (cluster, random) => {
  const victim = random.pick(cluster.processesOf('features'));
  victim.pause();
  await sleep(longPauseMs);
  victim.resume();
  return true;
};

const killEverything: Fault['inject'] = async ({ processes, nats, postgres }, random) => {
  const servers = [nats.crash(outageMs(random)), postgres.crash(outageMs(random))];
  await Promise.all([...servers, ...processes.map((one) => one.kill())]);
  await Promise.all(processes.map((one) => one.start()));
  return true;
};

/** A fault that always takes effect. */
function certainFault(job: (cluster: Cluster, random: SeededRandom) => Promise<void>): Fault['inject'] {
  return async (cluster, random) => {
    await job(cluster, random);
    return true;
  };
}

const writingServices = ['features', 'change-requests'] as const;
const killPointsOfWrites: readonly KillPoint[] = [
  'state written, events not',
  'before COMMIT',
  'COMMIT sent, no response',
  'after COMMIT, before the reply',
  'published, not marked',
];

/** Every kind of fault. */
export const faults: readonly Fault[] = [
  ...serviceNames.map((service) => ({ name: `${service} killed -9`, target: service, inject: killReplica(service) })),
  ...writingServices.flatMap((service) =>
    killPointsOfWrites.map((killPoint) => ({
      name: `${service} killed -9: ${killPoint}`,
      target: service,
      inject: killAtPoint(service, killPoint),
    })),
  ),
  ...consumers.map((service) => ({
    name: `${service} killed -9: applied, not acknowledged`,
    target: service,
    inject: killAtPoint(service, 'applied, not acknowledged'),
  })),
  {
    name: 'nats-server killed -9',
    target: 'servers',
    inject: certainFault(({ nats }, random) => nats.crash(outageMs(random))),
  },
  {
    name: 'NATS storage deleted',
    target: 'servers',
    inject: certainFault(({ nats }, random) => nats.deleteStorage(outageMs(random))),
  },
  {
    name: 'NATS storage restored to an older copy',
    target: 'servers',
    inject: certainFault(async ({ nats }, random) => {
      await nats.copyStorage();
      await sleep(random.fractional(2_000, 5_000));
      await nats.restoreCopy(outageMs(random));
    }),
  },
  { name: 'deliveries duplicated and reordered', target: 'network', inject: disturbWakeUps },
  {
    name: 'PostgreSQL crashed',
    target: 'servers',
    inject: certainFault(({ postgres }, random) => postgres.crash(outageMs(random))),
  },
  { name: 'PostgreSQL read-only, on and off', target: 'servers', inject: toggleReadOnly },
  ...(['search', 'change-requests'] as const).map((service) => ({
    name: `the database of ${service} restored to an older copy`,
    target: service,
    inject: certainFault((cluster: Cluster, random: SeededRandom) =>
      cluster.restore(service, random.fractional(2_000, 6_000)),
    ),
  })),
  { name: 'a features process frozen for 30 s', target: 'features', inject: pauseForLong },
  {
    name: 'a process cut off from NATS',
    target: 'network',
    inject: temporaryFault(
      4_000,
      (one) => one.natsProxy.disconnect(),
      (one) => one.natsProxy.reconnect(),
    ),
  },
  {
    name: 'a process cut off from PostgreSQL',
    target: 'network',
    inject: temporaryFault(
      4_000,
      (one) => one.postgresProxy.disconnect(),
      (one) => one.postgresProxy.reconnect(),
    ),
  },
  {
    name: "a process's connections to NATS lost without a sign",
    target: 'network',
    inject: certainFault(async ({ processes }, random) => random.pick(processes).natsProxy.loseConnections()),
  },
  {
    name: "a process's connections to PostgreSQL lost without a sign",
    target: 'network',
    inject: certainFault(async ({ processes }, random) => random.pick(processes).postgresProxy.loseConnections()),
  },
  {
    name: 'a process frozen',
    target: 'network',
    inject: temporaryFault(
      4_000,
      (one) => one.pause(),
      (one) => one.resume(),
    ),
  },
  { name: 'all processes and servers killed -9 together', target: 'everything', inject: killEverything },
];
