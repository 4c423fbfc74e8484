import { readFile } from 'node:fs/promises';
import { get as getHttp } from 'node:http';
import { get as getHttps } from 'node:https';
import { parseArgs } from 'node:util';

const timeoutMs = 5_000;

/** The commands of Unleash Edge that ask a running edge how it is: for probes that run a program. */
export const checks = ['health', 'ready'] as const;
export type Check = (typeof checks)[number];

/**
 * Asks the edge that `--edge-url` or `EDGE_URL` names, by default that on port 3063 of this machine. `--ca-certificate-file` is a PEM file
 * with the certificates that it is verified with.
 * @throws Error that says why it is not healthy or ready
 */
export async function checkEdge(check: Check, args: readonly string[], environment: NodeJS.ProcessEnv): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      'edge-url': { type: 'string', short: 'e', default: environment['EDGE_URL'] ?? 'http://localhost:3063' },
      'ca-certificate-file': { type: 'string', short: 'c', default: environment['CA_CERTIFICATE_FILE'] ?? '' },
    },
  });
  const { 'edge-url': address, 'ca-certificate-file': file } = values;
  const url = new URL(`${address.replace(/\/+$/, '')}/internal-backstage/${check}`);
  const signal = AbortSignal.timeout(timeoutMs);
  const get = url.protocol === 'https:' ? getHttps : getHttp;
  const ca = file === '' ? {} : { ca: await readFile(file) };
  const status = await new Promise<number | undefined>((resolve, reject) => {
    get(url, { signal, ...ca }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).on('error', reject);
  });
  if (status !== 200)
    throw new Error(
      `The edge at ${url.origin} answers ${status} to the question whether it is ${check === 'ready' ? 'ready' : 'healthy'}.`,
    );
}
