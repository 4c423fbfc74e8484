import { call, implement, systemContext } from '@bunting/bus';
import { CollectDeadLetters, deadLetterOperations } from '@bunting/contracts';
import type { AuditContext } from '../context.ts';

/** Timeout of calls to the other services: less than the caller's. */
const timeoutMs = 2_000;

const consumers = Object.keys(deadLetterOperations) as (keyof typeof deadLetterOperations)[];

export const collectDeadLettersEndpoint = ({ bus, deadLetters }: AuditContext) =>
  implement(CollectDeadLetters, async () => {
    const ofOthers = consumers.map(async (service) => ({
      service,
      letters: await call(bus, deadLetterOperations[service], {}, systemContext(timeoutMs)).catch(() => undefined),
    }));
    const all = [{ service: 'audit', letters: await deadLetters() }, ...(await Promise.all(ofOthers))];
    return {
      deadLetters: all.flatMap(({ service, letters = [] }) => letters.map((letter) => ({ service, ...letter }))),
      unanswered: all.filter(({ letters }) => letters === undefined).map(({ service }) => service),
    };
  });
