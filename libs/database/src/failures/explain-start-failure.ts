import { hostAndPortOf } from '../connection/postgres-url.ts';
import { type Outage, outageOf } from './database-failures.ts';

/** The error for an outage that keeps a service from starting, with the next step. */
const startFailure = (host: string, { kind, reason }: Outage): string => {
  switch (kind) {
    case 'disk full':
      return `The disk of the PostgreSQL at ${host} is full (${reason}). Free some space on it, then start again.`;
    case 'read-only':
      return `The PostgreSQL at ${host} is read-only (${reason}). Give the address of the primary, or make it writable.`;
    case 'access denied':
      return `The PostgreSQL at ${host} denies access (${reason}). Correct user and password, or grant the rights.`;
    case 'unreachable':
    case 'no response':
    case 'slow to connect':
      return `No PostgreSQL answers at ${host} (${reason}). Start one, or correct the address.`;
    default:
      return `The PostgreSQL at ${host} answers, and cannot be used now (${reason}). Start again when it can.`;
  }
};

/** Waits for the job. @throws Error with the next step when the job fails because of an outage */
export const explainStartFailure = async (url: string, job: Promise<unknown>): Promise<void> => {
  try {
    await job;
  } catch (error) {
    const outage = outageOf(error);
    if (outage === undefined) throw error;
    throw new Error(startFailure(hostAndPortOf(url), outage), { cause: error });
  }
};
