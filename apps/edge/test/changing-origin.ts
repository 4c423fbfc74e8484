import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { defaultFollowSettings, type FollowSettings } from '../src/upstream/follow-origin.ts';
import { flag, type OriginData, startSimulatedOrigin } from './simulated-origin.ts';

export const token = 'default:development.0123456789abcdef';

/** How tests follow an origin: fast. */
export const fastFollowing: FollowSettings = {
  ...defaultFollowSettings,
  refreshMs: 20,
  probeAfterMs: 30,
  maxBackoffMs: 50,
  betterModeAfterMs: 500,
  olderForMs: 100,
  refusedAfterMs: 60,
  refusedRetryMs: 50,
};

/**
 * Starts an origin that knows `token`, with a folder for the edges behind it.
 * @param stops gets what ends both
 * @param textOf what tells the states of the origin apart
 */
export async function startChangingOrigin(
  stops: (() => unknown)[],
  textOf: (features: readonly Record<string, unknown>[]) => string,
) {
  const origin = await startSimulatedOrigin();
  const folder = await mkdtemp(path.join(tmpdir(), 'edge-'));
  stops.push(
    () => rm(folder, { recursive: true, force: true }),
    () => origin.stop(),
  );
  origin.tokens.add(token);
  /** the states that the origin has had */
  const had = new Set<string>();
  let changes = 0;
  /** Changes the origin, or a copy of its data, and passes the change of the origin on to those who listen. */
  const change = (data: OriginData = origin.state.data): void => {
    changes++;
    if (changes % 5 === 4) data.remove(`flag-${(changes - 2) % 3}`);
    else data.put(flag(`flag-${changes % 3}`, `change ${changes}`));
    had.add(textOf(data.list()));
    if (data === origin.state.data) origin.wakeStreams();
  };
  change();
  return { origin, folder, had, change };
}
