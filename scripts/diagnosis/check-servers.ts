import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { NatsAccess } from '@bunting/bus';
import { natsBus } from '@bunting/bus/nats';
import { consumersOf } from '@bunting/contracts';
import { createTransport } from 'nodemailer';
import { readManifest } from '../backup/manifest.ts';

/** The result of one check, with the remedy of a problem. */
export interface Finding {
  readonly component: string;
  readonly text: string;
  readonly isProblem: boolean;
}

export function passedCheck(component: string, text: string): Finding {
  return { component, text, isProblem: false };
}
export function failedCheck(component: string, text: string): Finding {
  return { component, text, isProblem: true };
}
export function reasonOf(error: unknown): string {
  return (error as Error).message;
}

const timeoutMs = 5_000;
/** Services need clocks that agree to within a second. The header `Date` has whole seconds, so the difference may seem one more. */
const maxClockDifferenceMs = 2_000;

/** Compares the clock of a service, from the `Date` of its response, with that of this machine. */
function checkClock(address: string, response: Response): readonly Finding[] {
  const date = Date.parse(response.headers.get('date') ?? '');
  const differenceMs = Number.isNaN(date) ? 0 : Math.abs(Date.now() - date);
  if (differenceMs <= maxClockDifferenceMs) return [];
  return [
    failedCheck(
      address,
      `its clock and that of this machine differ by ${(differenceMs / 1_000).toFixed(0)} s. Synchronise both with NTP: deadlines of requests need clocks that agree.`,
    ),
  ];
}

/** Checks the readiness and the clock of the service at a URL. */
export async function checkService(address: string): Promise<readonly Finding[]> {
  try {
    const response = await fetch(new URL('/health/ready', address), { signal: AbortSignal.timeout(timeoutMs) });
    const clock = checkClock(address, response);
    const body = (await response.json().catch(() => ({}))) as { reason?: string; unavailable?: readonly string[] };
    const { reason = 'no reason given', unavailable = [] } = body;
    if (response.ok && unavailable.length > 0) {
      const state = `serves SDKs from memory, and answers 503 to administrators: unavailable are ${unavailable.join(' and ')}.`;
      return [failedCheck(address, state), ...clock];
    }
    if (response.ok) return [passedCheck(address, 'ready'), ...clock];
    return [failedCheck(address, `is not ready (${response.status}): ${reason}`), ...clock];
  } catch (error) {
    return [failedCheck(address, `does not answer (${reasonOf(error)}). Start it, or correct the address.`)];
  }
}

/** The maximum size of what a message has in addition to the body of an import. */
const envelopeBytes = 1024 ** 2;
function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 1024 ** 2)} MiB`;
}

/** Checks NATS, as a user of a service: its version, JetStream, and its limits. */
export async function checkNats({
  url,
  user = 'doctor',
  maxImportBytes,
  access,
}: {
  readonly url: string;
  /** the user of NATS; its rights include the inbox that is named after it */
  readonly user: string | undefined;
  readonly access: NatsAccess;
  readonly maxImportBytes: number;
}): Promise<readonly Finding[]> {
  try {
    const neededPayloadBytes = maxImportBytes + envelopeBytes;
    const bus = await natsBus({ url, name: user, access });
    try {
      await bus.prepareServer([]);
      const { version, maxPayloadBytes } = bus.server;
      const { streams, storedBytes, maxBytes, neededBytes } = await bus.storage();
      const producers = Object.keys(consumersOf);
      return [
        passedCheck('NATS', `version ${version}, with JetStream`),
        maxPayloadBytes < neededPayloadBytes
          ? failedCheck(
              'NATS',
              `max_payload is ${maxPayloadBytes} bytes: imports of more are refused with 413. Set max_payload: ${Math.ceil(neededPayloadBytes / 1024 ** 2 / 16) * 16}MB.`,
            )
          : passedCheck('NATS', `messages of up to ${maxPayloadBytes} bytes`),
        streams < producers.length
          ? failedCheck(
              'NATS',
              `has ${streams} of the ${producers.length} streams of ${producers.join(', ')}. Start these services, which create them; their logs say why one cannot be created.`,
            )
          : passedCheck('NATS', `${streams} streams, which store ${mebibytes(storedBytes)}`),
        ...(maxBytes !== undefined && maxBytes < neededBytes
          ? [
              failedCheck(
                'NATS',
                `the account may store ${mebibytes(maxBytes)}, and full streams need ${mebibytes(neededBytes)}. Raise max_file of JetStream for the account.`,
              ),
            ]
          : []),
      ];
    } finally {
      await bus.close();
    }
  } catch (error) {
    return [failedCheck('NATS', reasonOf(error))];
  }
}

const untilThen = 'until then PostgreSQL answers searches.';

function adviceFor(status: number): string {
  return status === 401 || status === 403
    ? 'Correct MEILI_KEY'
    : status >= 500 || status === 429
      ? 'Look at its log, and at what is in front of it'
      : 'Correct MEILI_URL: there is no Meilisearch';
}

/** What the answer of a server to `GET /version` says about Meilisearch. */
export function findingOfVersion(url: string, status: number, body: string): Finding {
  if (status < 200 || status >= 300)
    return failedCheck('Meilisearch', `${url} answers ${status}. ${adviceFor(status)}; ${untilThen}`);
  const version = /"pkgVersion"\s*:\s*"([^"]*)"/.exec(body)?.[1];
  return version === undefined
    ? failedCheck('Meilisearch', `${url} answers without a version. ${adviceFor(404)}; ${untilThen}`)
    : passedCheck('Meilisearch', `version ${version}`);
}

/** Checks whether Meilisearch responds, and accepts the key. */
export async function checkMeilisearch(url: string, key: string | undefined): Promise<Finding> {
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(new URL('/version', url), { headers, signal });
    return findingOfVersion(url, response.status, await response.text());
  } catch {
    return failedCheck('Meilisearch', `${url} does not answer. Start it or correct MEILI_URL; ${untilThen}`);
  }
}

/** Checks whether the mail server responds, and accepts the password that SMTP_URL has. It sends no mail. */
export async function checkMail(url: string): Promise<Finding> {
  const timeouts = { connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, socketTimeout: timeoutMs };
  const transport = createTransport({ url, ...timeouts });
  try {
    await transport.verify();
    return passedCheck('mail server', new URL(url).host);
  } catch (error) {
    const { code = 'no code' } = error as { code?: string };
    const advice = code === 'EAUTH' ? 'Correct user and password in SMTP_URL' : 'Start it or correct SMTP_URL';
    return failedCheck('mail server', `${new URL(url).host} fails with ${code}. ${advice}; until then mail waits.`);
  } finally {
    transport.close();
  }
}

/** A day, and two more hours, since a nightly backup may take longer than the one before. */
const maxAgeHours = 26;
const hourMs = 3_600_000;

/** Checks whether a folder has a complete backup of the last day. It does not read the backup itself, as `backup:verify` does. */
export async function checkBackupAge(folder: string): Promise<Finding> {
  const name = `backups in ${folder}`;
  const advice = 'Run npm run backup, and look why cron did not.';
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    const folders = entries.filter((entry) => entry.isDirectory()).map((entry) => path.join(folder, entry.name));
    const manifests = await Promise.allSettled(folders.map(readManifest));
    const times = manifests.flatMap((outcome) =>
      outcome.status === 'fulfilled' ? [Date.parse(outcome.value.at)] : [],
    );
    if (times.length === 0) return failedCheck(name, `none is complete. ${advice}`);
    const hours = (Date.now() - Math.max(...times)) / hourMs;
    const age = `the newest of ${times.length} is ${hours.toFixed(1)} hours old`;
    return hours > maxAgeHours ? failedCheck(name, `${age}. ${advice}`) : passedCheck(name, age);
  } catch (error) {
    return failedCheck(name, `cannot be read (${reasonOf(error)}). Correct the folder.`);
  }
}
