import { implement, systemContext } from '@bunting/bus';
import { CollectDeadLetters, deadLetterOperations } from '@bunting/contracts';
import { call } from '../../calls.ts';
import type { AuditContext } from '../context.ts';

/** Timeout of the calls to the other services: shorter than the default timeout of the caller. */
const timeoutMs = 2_000;

/** The other services that consume messages. */
const otherConsumers = Object.keys(deadLetterOperations) as (keyof typeof deadLetterOperations)[];

export const collectDeadLettersEndpoint = ({ bus, deadLetters }: AuditContext) =>
  implement(CollectDeadLetters, async () => {
    const lettersOfOthers = otherConsumers.map(async (service) => ({
      service,
      letters: await call(bus, deadLetterOperations[service], {}, systemContext(timeoutMs)).catch(() => undefined),
    }));
    const all = [{ service: 'audit', letters: await deadLetters() }, ...(await Promise.all(lettersOfOthers))];
    return {
      deadLetters: all.flatMap(({ service, letters = [] }) => letters.map((letter) => ({ service, ...letter }))),
      unanswered: all.filter(({ letters }) => letters === undefined).map(({ service }) => service),
    };
  });
