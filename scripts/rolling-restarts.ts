import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { countOption, numberOption, runCommand } from './command.ts';
import { ensureNatsServerInstalled } from './testing/install-nats-server.ts';
import { formatRollingRestarts, runRollingRestarts } from './torture/rolling-restarts.ts';

const help = `Restarts the processes of every service in turn under load, and counts the requests that fail.

  npm run torture:rolling [-- options]

  --requests N      minimum number of requests (default 2000)
  --restarts N      restarts of each service (default 2)
  --drain-delay MS  DRAIN_DELAY_MS of the gateways (default 3000)
  --clients N       concurrent clients; half of them keep their connections (default 8)

It starts two processes of every service, and a balancer that probes /health/ready of the gateways. Clients do not retry.
Its exit code is 1 if a request failed or an acknowledged write is missing at the end.`;

await runCommand(
  {
    help,
    options: {
      requests: { type: 'string', default: '2000' },
      restarts: { type: 'string', default: '2' },
      'drain-delay': { type: 'string', default: '3000' },
      clients: { type: 'string', default: '8' },
    },
  },
  async (values) => {
    const numbers = {
      requests: countOption('requests', values.requests),
      restarts: countOption('restarts', values.restarts),
      drainDelayMs: numberOption('drain-delay', values['drain-delay']),
      clients: countOption('clients', values.clients),
    };
    process.env['NATS_SERVER'] ??= await ensureNatsServerInstalled();
    const folder = mkdtempSync(path.join(os.tmpdir(), 'bunting-rolling-restarts-'));
    const startedAt = performance.now();
    const log = (line: string): void =>
      console.log(`${((performance.now() - startedAt) / 1000).toFixed(1).padStart(7)} s  ${line}`);
    const outcome = await runRollingRestarts({ ...numbers, folder, log });
    console.log(formatRollingRestarts(outcome));
    if (outcome.failures.length > 0 || outcome.lost.length > 0) {
      console.log(`Kept: ${folder}`);
      return 1;
    }
    rmSync(folder, { recursive: true, force: true });
    return 0;
  },
);
