import { Client } from 'pg';
import { onlyRow } from '../only-row.ts';
import { keepAlive } from './keep-alive.ts';
import { postgresAddress } from './postgres-address.ts';

/** The first version with `transaction_timeout`. */
const oldestVersion = 17;

const requireVersion = async (client: Client, url: string): Promise<void> => {
  const { rows } = await client.query<{ number: number }>(
    "select current_setting('server_version_num')::integer / 10000 as number",
  );
  const version = onlyRow(rows).number;
  if (version >= oldestVersion) return;
  throw new Error(
    `The PostgreSQL at ${postgresAddress(url)} is version ${version}; Bunting needs ${oldestVersion} or newer, for its transaction_timeout.`,
  );
};

/** Deadlines are times of the caller's clock: beyond this difference every write would be late. */
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
    `The clock of this machine is ${Math.abs(differenceMs / 1_000).toFixed(0)} s ${differenceMs > 0 ? 'ahead of' : 'behind'} that of the PostgreSQL at ${postgresAddress(url)}. ` +
      'Synchronise both with NTP, then start again: deadlines of requests need clocks that agree.',
  );
};

/** How long PostgreSQL may take to respond before the connection counts as lost, unless the caller says otherwise. */
const defaultLostAfterMs = 30_000;

/** For statements that may take as long as they need: the longest timer of Node. */
export const unlimited = { query_timeout: 2 ** 31 - 1 };

/** A connection outside the pool. A lost connection shows in the query that fails; without a listener the error would end the process. */
export const openSingleConnection = async (
  url: string,
  lostAfterMs = defaultLostAfterMs,
  name = 'start',
): Promise<Client> => {
  const client = new Client({
    ...keepAlive,
    application_name: `bunting-${name}`,
    connectionString: url,
    connectionTimeoutMillis: 5_000,
    query_timeout: lostAfterMs,
  });
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
