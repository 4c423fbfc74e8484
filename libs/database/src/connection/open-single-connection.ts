import { Client } from 'pg';
import { onlyRow } from '../only-row.ts';
import { keepAlive } from './keep-alive.ts';
import { hostAndPortOf } from './postgres-url.ts';

/** The first version with `transaction_timeout`. */
const oldestVersion = 17;

const requireVersion = async (client: Client, url: string): Promise<void> => {
  const { rows } = await client.query<{ number: number }>(
    "select current_setting('server_version_num')::integer / 10000 as number",
  );
  const version = onlyRow(rows).number;
  if (version >= oldestVersion) return;
  throw new Error(
    `The PostgreSQL at ${hostAndPortOf(url)} is version ${version}; Bunting needs ${oldestVersion} or newer, for its transaction_timeout.`,
  );
};

/**
 * The maximum difference between the clocks of this machine and of PostgreSQL. Each process compares the deadlines of calls, which other
 * processes set, with its own clock. A check against PostgreSQL at the start makes sure that their clocks roughly agree with each other.
 * PostgreSQL's clock also times schedules and retries.
 */
const maxClockDifferenceMs = 30_000;

/** How many milliseconds this machine's clock is ahead of PostgreSQL's, to within half a round trip. */
const clockDifferenceMs = async (client: Client): Promise<number> => {
  const before = Date.now();
  const { rows } = await client.query<{ ms: number }>(
    'select extract(epoch from clock_timestamp())::float8 * 1000 as ms',
  );
  return (before + Date.now()) / 2 - onlyRow(rows).ms;
};

const requireSameClock = async (client: Client, url: string): Promise<void> => {
  const differenceMs = await clockDifferenceMs(client);
  if (Math.abs(differenceMs) <= maxClockDifferenceMs) return;
  throw new Error(
    `The clock of this machine is ${Math.abs(differenceMs / 1_000).toFixed(0)} s ${differenceMs > 0 ? 'ahead of' : 'behind'} that of the PostgreSQL at ${hostAndPortOf(url)}. ` +
      'Synchronise both with NTP, then start again: deadlines of requests need clocks that agree.',
  );
};

/** How long PostgreSQL may by default take to respond, before the connection counts as lost. */
const defaultLostAfterMs = 30_000;

/** The option of a query without a timeout: it waits 25 days for a response, as long as a timer of Node.js can. */
export const withoutTimeout = { query_timeout: 2 ** 31 - 1 };

/**
 * Opens a connection outside the pool, and checks the version and the clock of PostgreSQL. When the connection is lost, a query fails.
 * @param lostAfterMs how long a query waits for a response
 * @param purpose what the connection is for, in its application name `bunting-<purpose>` in `pg_stat_activity`
 * @throws Error when PostgreSQL is too old, or its clock differs from that of this machine
 */
export const openSingleConnection = async (
  url: string,
  lostAfterMs = defaultLostAfterMs,
  purpose = 'start',
): Promise<Client> => {
  const client = new Client({
    ...keepAlive,
    application_name: `bunting-${purpose}`,
    connectionString: url,
    connectionTimeoutMillis: 5_000,
    query_timeout: lostAfterMs,
  });
  // Without a listener the error of a lost connection would end the process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await requireVersion(client, url);
    await requireSameClock(client, url);
  } catch (error) {
    await client.end();
    throw error;
  }
  return client;
};
