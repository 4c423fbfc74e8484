import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Chance, chanceFrom } from './chance.ts';
import { type Fault, faults } from './faults.ts';
import { startFollower } from './follower.ts';
import { openLedger, readLedger } from './ledger.ts';
import { complaintsIn, judge, type Verdict } from './verdict.ts';
import { untilWhole } from './whole.ts';
import { type Scale, startWorld, type World } from './world.ts';
import { runWriter } from './writer.ts';

export interface TortureOptions {
  readonly seed: number;
  readonly minutes: number;
  /** a folder of the run's own: its servers' data, what processes printed, and what writers remember */
  readonly folder: string;
  readonly writers?: number;
  readonly scale?: Scale;
  /** which strike; all that there are when left out */
  readonly kinds?: readonly Fault[];
  /** whether faults strike at the same time: nobody waits then until what was broken is whole again */
  readonly together?: boolean;
  readonly say?: (line: string) => void;
}

/** How often a fault struck, and what became of it. */
export interface Strikes {
  readonly fault: string;
  readonly tried: number;
  readonly struck: number;
  /** milliseconds from its end until every gateway answered in full again */
  readonly wholeAfterMs: readonly number[];
}

export interface Outcome extends Verdict {
  readonly strikes: readonly Strikes[];
}

/** Nothing takes longer than this to come back by itself. */
const repairMs = 60_000;
/** There may be 500, and some of which nobody knows. */
const mostProjects = 400;
/** A moment that does not come in time is waited for again; one that never comes shows in the table. */
const mostTries = 4;

const scaleOfAll: Scale = { features: 2, 'change-requests': 1, audit: 2, search: 1, gateway: 2 };

type Counted = { fault: string; tried: number; struck: number; wholeAfterMs: number[] };

/** Strikes with one fault after the other, each at least once, until time is up. */
const strikeInTurn = async (
  world: World,
  kinds: readonly Fault[],
  chance: Chance,
  isOver: () => boolean,
  done: (fault: Fault, struck: boolean) => Promise<void>,
): Promise<void> => {
  for (let round = 1; kinds.length > 0 && (round === 1 || !isOver()); round++) {
    for (const fault of chance.shuffled(kinds)) {
      if (round > 1 && isOver()) return;
      for (let tries = round === 1 ? mostTries : 1; tries > 0; tries--) {
        await sleep(chance.between(0, 800));
        const struck = await fault.strike(world, chance);
        await done(fault, struck);
        if (struck) break;
      }
    }
  }
};

const strikeAll = async (
  world: World,
  { seed, minutes, kinds = faults, together = false }: TortureOptions,
  say: (line: string) => void,
  accuse: (violation: string) => void,
): Promise<Strikes[]> => {
  const chance = chanceFrom(seed).for('faults');
  const until = performance.now() + minutes * 60_000;
  const records = new Map<Fault, Counted>(
    kinds.map((fault) => [fault, { fault: fault.name, tried: 0, struck: 0, wholeAfterMs: [] }]),
  );
  const wholeAgain = (after: string): Promise<number> =>
    untilWhole(world, repairMs).catch((error: Error) => {
      accuse(`After "${after}" it did not become whole within ${repairMs / 1000} s: ${error.message}`);
      return repairMs;
    });
  const done = async (fault: Fault, struck: boolean): Promise<void> => {
    const record = records.get(fault) as Counted;
    record.tried++;
    if (struck) record.struck++;
    if (!struck) return say(`${fault.name}: did not come about`);
    if (together) return say(fault.name);
    const ms = await wholeAgain(fault.name);
    record.wholeAfterMs.push(ms);
    say(`${fault.name}: whole again after ${Math.round(ms)} ms`);
  };
  let isBroken = false;
  const strike = (some: readonly Fault[], name: string): Promise<void> =>
    strikeInTurn(world, some, chance.for(name), () => isBroken || performance.now() >= until, done).catch((error) => {
      isBroken = true;
      accuse((error as Error).message);
    });
  if (!together) await strike(kinds, 'all');
  else {
    const { everything = [], ...apart } = Object.groupBy(kinds, ({ to }) => to);
    await Promise.all(Object.entries(apart).map(([to, some = []]) => strike(some, to)));
    await strike(everything, 'everything');
  }
  if (together) say(`whole again after ${Math.round(await wholeAgain('everything'))} ms`);
  return [...records.values()];
};

/** Tortures a Bunting of its own for a while, then judges whether it has kept its promises. */
export const torture = async (options: TortureOptions): Promise<Outcome> => {
  const { seed, folder, writers = 4, scale = scaleOfAll, say = () => undefined } = options;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const chance = chanceFrom(seed);
  const world = await startWorld(folder, scale, chance, say);
  const follower = startFollower({ urls: world.urls, token: world.token, chance: chance.for('follower') });
  let over = false;
  try {
    say('everything is started');
    const files = Array.from({ length: writers }, (_, nth) => path.join(folder, `writer-${nth + 1}.jsonl`));
    const ledgers = files.map(openLedger);
    const writing = ledgers.map(({ write }, nth) => {
      const name = `w${nth + 1}`;
      return runWriter({
        name,
        urls: world.urls,
        token: world.token,
        chance: chance.for(name),
        write,
        isOver: () => over,
        mostProjects: Math.floor(mostProjects / writers),
        restores: () => world.restores.filter(({ service }) => service === 'change-requests').length,
      });
    });
    const complaints: string[] = [];
    const strikes = await strikeAll(world, options, say, (complaint) => void complaints.push(complaint));
    over = true;
    await Promise.all(writing);
    for (const ledger of ledgers) ledger.close();
    say('the writers are done; judging');
    const verdict = await judge(world, files.map(readLedger), follower);
    await world.stop();
    const logged = complaintsIn(folder);
    return { ...verdict, violations: [...complaints, ...verdict.violations, ...logged], strikes };
  } catch (error) {
    over = true;
    await world.stop();
    throw error;
  } finally {
    await follower.stop();
  }
};
