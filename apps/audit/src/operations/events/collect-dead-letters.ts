import { type Bus, call, implement, systemContext } from '@bunting/bus';
import { type DeadLetter, CollectDeadLetters, readDeadLettersOf } from '@bunting/contracts';

/** Timeout of calls to the other services: less than the caller's. */
const timeoutMs = 2_000;

const consumers = Object.keys(readDeadLettersOf) as (keyof typeof readDeadLettersOf)[];

export const collectDeadLettersEndpoint = (bus: Bus, own: () => Promise<DeadLetter[]>) =>
  implement(CollectDeadLetters, async () => {
    const ofOthers = consumers.map(async (service) => ({
      service,
      letters: await call(bus, readDeadLettersOf[service], {}, systemContext(timeoutMs)).catch(() => undefined),
    }));
    const all = [{ service: 'audit', letters: await own() }, ...(await Promise.all(ofOthers))];
    return {
      deadLetters: all.flatMap(({ service, letters = [] }) => letters.map((letter) => ({ service, ...letter }))),
      unanswered: all.filter(({ letters }) => letters === undefined).map(({ service }) => service),
    };
  });
