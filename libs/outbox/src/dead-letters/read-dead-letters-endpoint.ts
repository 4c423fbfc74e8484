import { type Endpoint, implement } from '@bunting/bus';
import { deadLetterOperations } from '@bunting/contracts';
import type { ReadDatabase } from '@bunting/database';
import { listDeadLetters } from './dead-letter-store.ts';

/** The endpoint by which the audit service lists the dead letters of every service. */
export const readDeadLettersEndpoint = (
  consumer: keyof typeof deadLetterOperations,
  database: ReadDatabase,
): Endpoint => implement(deadLetterOperations[consumer], () => listDeadLetters(database));
